// SPDX-License-Identifier: MIT
// Files of /proc, /sys and control groups, which the kernel answers.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/util/result.hpp"

namespace hpcml::util {

/// Tells the kernel `text` in one write; write_file would make a new file next to it. What the kernel refuses
/// is the error, and errno keeps it.
Status write_kernel_file(const std::filesystem::path& path, std::string_view text);

} // namespace hpcml::util
