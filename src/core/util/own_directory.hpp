// SPDX-License-Identifier: MIT
// Directories and files of the caller in directories that other users may write in.
#pragma once

#include <filesystem>

#include "core/util/result.hpp"

namespace hpcml::util {

/// Creates the directory, for the caller alone (mode 0700), and its missing parents. An existing one is
/// accepted if it belongs to the caller and is not a symbolic link.
Status make_own_directory(const std::filesystem::path& path);
/// Opens a file for appending and creates it if it is missing. Its directory must belong to the caller, and
/// neither of the two may be a symbolic link. Opening a pipe without a reader is an error. The caller closes
/// the descriptor.
Result<int> append_own_file(const std::filesystem::path& path);

} // namespace hpcml::util
