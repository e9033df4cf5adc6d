// SPDX-License-Identifier: MIT
// What find_package(hpcml COMPONENTS ddp) reads in the folder of a build.
#pragma once

#include <string>

#include "core/util/result.hpp"
#include "torch/build/torch_package.hpp"

namespace hpcml::torch_build {

/// hpcmlConfig.cmake: the targets hpcml::headers and hpcml::ddp, with the torch that the library was compiled
/// for. It goes wherever the folder goes. Pure.
std::string render_cmake_config(const TorchPackage& package);

/// hpcmlConfigVersion.cmake: programs may ask for the same minor version, as of an installed hpcml. Pure.
std::string render_cmake_version(const std::string& version);

/// Writes both where CMake looks below a folder that CMAKE_PREFIX_PATH names.
util::Status write_cmake_package(const TorchPackage& package, const std::string& directory);

} // namespace hpcml::torch_build
