// SPDX-License-Identifier: MIT
// Files without the functions of std::filesystem. Wheels of torch bring their own copies of these, which a
// program that links torch may get in place of its C++ library's; in libtorch.so of 2.11.0 for CUDA 13
// remove_all() calls address 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hpcml::ddp {

/// What a folder holds, in any order; nothing if it cannot be read.
std::vector<std::string> names_in(const std::string& folder);
/// Removes a file, or a folder with all that is in it, as far as that can be done; links are not followed.
void remove_tree(const std::string& path);
/// Makes a folder and those above it. 0 if it is there then, else an errno.
int make_folders(const std::string& path);
/// In bytes; -1 if there is no such file.
std::int64_t size_of_file(const std::string& path);

} // namespace hpcml::ddp
