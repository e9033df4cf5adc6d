// SPDX-License-Identifier: MIT
// A folder that goes away with its test.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>

namespace hpcml::testing {

class TempDir {
public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "hpcml-spec-XXXXXX").string();
    x_path = mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(x_path, error);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return x_path; }
  std::string write(const std::string& name, const std::string& text) const {
    const auto file = std::filesystem::path(x_path) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

private:
  std::string x_path;
};

} // namespace hpcml::testing
