// SPDX-License-Identifier: MIT
// A folder that all nodes of an emulated cluster share: not below /tmp, which is each node's own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "core/util/node_local_path.hpp"

namespace hpcml::test {

/// A folder of this build, or, where that is below /tmp, of the user.
class SharedDirectory {
public:
  SharedDirectory() {
    std::filesystem::remove_all(x_path);
    std::filesystem::create_directories(x_path);
  }
  ~SharedDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(x_path, ignored);
  }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  std::string path() const { return x_path.string(); }

private:
  static std::string base() {
    if (!util::is_node_local(HPCML_BINARY_DIR)) return HPCML_BINARY_DIR;
    const char* home = std::getenv("HOME");
    return home == nullptr ? "/root" : home;
  }
  std::filesystem::path x_path = base() + "/.hpcml-survival-" + std::to_string(::getpid());
};

} // namespace hpcml::test
