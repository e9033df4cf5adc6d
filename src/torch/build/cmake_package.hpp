// SPDX-License-Identifier: MIT
// The files in a build that find_package(hpcml COMPONENTS ddp) reads.
#pragma once

#include <string>

#include "core/util/result.hpp"
#include "torch/build/torch_package.hpp"

namespace hpcml::torch_build {

/// Returns hpcmlConfig.cmake: the targets hpcml::headers and hpcml::ddp, with the torch that the library was
/// compiled for. The directory can be moved. Pure.
std::string render_cmake_config(const TorchPackage& package);

/// hpcmlConfigVersion.cmake: programs may ask for the same minor version, as of an installed hpcml. Pure.
std::string render_cmake_version(const std::string& version);

/// Writes both files to where CMake searches in a directory of CMAKE_PREFIX_PATH.
util::Status write_cmake_package(const TorchPackage& package, const std::string& directory);

} // namespace hpcml::torch_build
