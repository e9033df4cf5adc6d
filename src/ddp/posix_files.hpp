// SPDX-License-Identifier: MIT
// Files without the functions of std::filesystem. Wheels of torch bring their own copies of these, which a
// program that links torch may get in place of its C++ library's; in libtorch.so of 2.11.0 for CUDA 13
// remove_all() calls address 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hpcml::ddp {

/// Returns the names in a directory, in any order; empty if it cannot be read.
std::vector<std::string> names_in(const std::string& directory);
/// Removes a file, or a directory with its content, as far as possible; links are not followed.
void remove_tree(const std::string& path);
/// Creates a directory and its parents. Returns 0 if it exists afterwards, else an errno.
int make_directories(const std::string& path);

/// A regular file, open for reading until this object is destroyed.
class RegularFile {
public:
  /// Opens the file without waiting. A FIFO, a device or a directory is a problem.
  explicit RegularFile(const std::string& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  /// Why the file cannot be read; empty: it can.
  const std::string& problem() const { return x_problem; }
  /// True if there is no file of that name.
  bool is_missing() const { return x_is_missing; }
  std::int64_t size() const { return x_size; } ///< in bytes
  /// Returns up to `most` bytes from the current position; empty at the end, or after an error.
  std::string read(std::size_t most);

private:
  int x_fd = -1;
  std::int64_t x_size = 0;
  bool x_is_missing = false;
  std::string x_problem;
};

} // namespace hpcml::ddp
