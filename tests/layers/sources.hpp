// SPDX-License-Identifier: MIT
// The sources that the tests of layers and of style read.
#pragma once

#include <filesystem>
#include <vector>

namespace hpcml {

/// The C++ files below a folder of the repository.
inline std::vector<std::filesystem::path> sources(const char* below = "src") {
  std::vector<std::filesystem::path> list;
  const auto root = std::filesystem::path(HPCML_SOURCE_DIR) / below;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const auto extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".hpp") list.push_back(entry.path());
  }
  return list;
}

} // namespace hpcml
