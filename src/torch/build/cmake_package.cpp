// SPDX-License-Identifier: MIT
#include "torch/build/cmake_package.hpp"

#include "core/util/text.hpp"
#include "torch/build/build_recipe.hpp"
#include "torch/build/cache.hpp"

namespace hpcml::torch_build {

namespace {

constexpr const char* k_config =
    R"(# find_package(hpcml COMPONENTS ddp): hpcml::ddp as `hpcml torch build` compiled it.
get_filename_component(hpcml_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(hpcml_TORCH_VERSION @VERSION@)
set(hpcml_ddp_FOUND TRUE)
foreach(hpcml_component IN LISTS hpcml_FIND_COMPONENTS)
  if(NOT hpcml_component STREQUAL "ddp" AND hpcml_FIND_REQUIRED_${hpcml_component})
    set(hpcml_FOUND FALSE)
    set(hpcml_NOT_FOUND_MESSAGE "hpcml has no component '${hpcml_component}': there is ddp.")
  endif()
endforeach()
if(NOT TARGET hpcml::headers)
  add_library(hpcml::headers INTERFACE IMPORTED)
  set_target_properties(hpcml::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${hpcml_prefix}/include" INTERFACE_COMPILE_FEATURES cxx_std_17)
endif()
if(NOT TARGET hpcml::ddp)
  add_library(hpcml::ddp SHARED IMPORTED)
  set_target_properties(hpcml::ddp PROPERTIES
    IMPORTED_LOCATION "${hpcml_prefix}/@LIBRARY@"
    INTERFACE_INCLUDE_DIRECTORIES @INCLUDES@
    INTERFACE_COMPILE_DEFINITIONS @DEFINITIONS@
    INTERFACE_COMPILE_FEATURES cxx_std_@STANDARD@
    INTERFACE_LINK_LIBRARIES @LIBRARIES@)
endif()
)";

constexpr const char* k_version = R"(set(PACKAGE_VERSION @VERSION@)
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND PACKAGE_FIND_VERSION VERSION_GREATER_EQUAL @MINOR@)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
)";

/// One argument of CMake that is a list, whatever its words hold.
std::string cmake_list(const std::vector<std::string>& words) {
  std::string text;
  for (const char c : util::join(words, ";")) {
    if (c == '\\' || c == '"' || c == '$') text += '\\';
    text += c;
  }
  return '"' + text + '"';
}

} // namespace

std::string render_cmake_config(const TorchPackage& package) {
  std::vector<std::string> definitions, libraries = {"hpcml::headers"};
  if (!package.abi.empty()) definitions.push_back("_GLIBCXX_USE_CXX11_ABI=" + package.abi);
  for (const auto& word : torch_libraries(package)) libraries.push_back(word);
  std::string text = k_config;
  text = util::replace_all(text, "@VERSION@", cmake_list({package.version}));
  text = util::replace_all(text, "@LIBRARY@", k_library_name);
  text = util::replace_all(text, "@STANDARD@", std::to_string(package.cxx_standard));
  text = util::replace_all(text, "@DEFINITIONS@", cmake_list(definitions));
  text = util::replace_all(text, "@INCLUDES@", cmake_list(torch_includes(package)));
  return util::replace_all(text, "@LIBRARIES@", cmake_list(libraries));
}

std::string render_cmake_version(const std::string& version) {
  const auto text = util::replace_all(k_version, "@VERSION@", version);
  return util::replace_all(text, "@MINOR@", version.substr(0, version.rfind('.')));
}

util::Status write_cmake_package(const TorchPackage& package, const std::string& directory) {
  const auto config = render_cmake_config(package), version = render_cmake_version(HPCML_VERSION);
  const embedded::EmbeddedFile files[] = {{"lib/cmake/hpcml/hpcmlConfig.cmake", config},
                                          {"lib/cmake/hpcml/hpcmlConfigVersion.cmake", version}};
  return write_embedded(files, directory);
}

} // namespace hpcml::torch_build
