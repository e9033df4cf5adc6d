// SPDX-License-Identifier: MIT
// The sources that the tests of layers and of style read.
#pragma once

#include <filesystem>
#include <string>
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

inline std::filesystem::path source_root() { return std::filesystem::path(HPCML_SOURCE_DIR) / "src"; }

/// The path of a source below src/.
inline std::string relative_path(const std::filesystem::path& file) {
  return std::filesystem::relative(file, source_root()).string();
}

/// "core" for core/util/file.hpp.
inline std::string product_of(const std::string& path) { return path.substr(0, path.find('/')); }

/// What is one library: "core/util" for core/util/file.hpp, as core has LAYERS of its own, but "check" for
/// check/rules/site_memory.cpp.
inline std::string directory_of(const std::string& path) {
  const auto product = product_of(path);
  if (!std::filesystem::exists(source_root() / product / "LAYERS")) return product;
  return path.substr(0, path.find('/', product.size() + 1));
}

} // namespace hpcml
