// SPDX-License-Identifier: MIT
// Files of /proc, /sys and control groups, which the kernel answers.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/util/result.hpp"

namespace hpcml::util {

/// Writes `text` to a file of the kernel in one call; write_file would create a new file next to it. Returns
/// the kernel's error, which errno keeps.
Status write_kernel_file(const std::filesystem::path& path, std::string_view text);

} // namespace hpcml::util
