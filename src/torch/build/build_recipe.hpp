// SPDX-License-Identifier: MIT
// The compiler's command lines as words; no shell reads them. Pure.
#pragma once

#include <string>
#include <vector>

#include "torch/build/torch_package.hpp"

namespace hpcml::torch_build {

/// Sources that are compiled into one object.
struct CompileStep {
  std::string what;   ///< for messages: "7 sources of src/ddp"
  std::string object; ///< relative to the directory of the build
  std::vector<std::string> words;
};

/// All of a build in `directory`, which holds the sources and receives the objects.
struct BuildRecipe {
  std::vector<CompileStep> steps;
  std::vector<std::string> link_library; ///< libhpcml_ddp.so
  std::vector<std::string> link_helper;  ///< hpcml-torch
};

inline constexpr const char* k_helper_name = "hpcml-torch";
inline constexpr const char* k_library_name = "lib/libhpcml_ddp.so";

/// Returns the directories of torch's headers, for user programs and for the library itself.
std::vector<std::string> torch_includes(const TorchPackage& package);

/// What is linked: torch's libraries and the flags among them, without where they are looked for at run time.
std::vector<std::string> torch_libraries(const TorchPackage& package);

/// `sources`: all that are embedded. The library is made of src/ddp, the helper of that and src/torch/helper.
BuildRecipe make_recipe(const std::string& compiler, const TorchPackage& package,
                        const std::string& directory, const std::vector<std::string>& sources, bool nccl);

/// What a program is compiled and linked with that uses the library of `directory`.
std::vector<std::string> program_flags(const TorchPackage& package, const std::string& directory);

} // namespace hpcml::torch_build
