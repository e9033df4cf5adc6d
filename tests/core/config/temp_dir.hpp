// SPDX-License-Identifier: MIT
// A folder with the files of a test.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "temp_directory.hpp"

namespace hpcml::testing {

class TempDir {
public:
  const std::string& path() const { return x_path; }
  std::string write(const std::string& name, const std::string& text) const {
    const auto file = std::filesystem::path(x_path) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

private:
  test::TempDirectory x_directory;
  std::string x_path = x_directory.path().string();
};

} // namespace hpcml::testing
