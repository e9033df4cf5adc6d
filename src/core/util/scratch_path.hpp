// SPDX-License-Identifier: MIT
// A file or directory of this process's own that goes when it is not needed any more.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace hpcml::util {

/// Removes what is at a path, with its contents, when it is destroyed. What cannot be removed stays, because
/// a destructor cannot report errors.
class ScratchPath {
public:
  explicit ScratchPath(std::string path) : x_path(std::move(path)) {}
  ~ScratchPath() { clear(); }
  ScratchPath(const ScratchPath&) = delete;
  ScratchPath& operator=(const ScratchPath&) = delete;
  const std::string& path() const { return x_path; }
  /// Removes now what exists, as of a process before that was killed.
  void clear() const {
    std::error_code ignored;
    std::filesystem::remove_all(x_path, ignored);
  }

private:
  std::string x_path;
};

} // namespace hpcml::util
