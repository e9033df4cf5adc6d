// SPDX-License-Identifier: MIT
// A folder that goes away at the end of a test.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <stdlib.h>
#include <string>

namespace hpcml::test {

/// A new empty folder; it is removed with all that is in it when the value ends. Throws where none can be
/// made.
class TempDirectory {
public:
  TempDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "hpcml-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    x_path = name;
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(x_path, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return x_path / name; }
  const std::filesystem::path& path() const { return x_path; }

private:
  std::filesystem::path x_path;
};

} // namespace hpcml::test
