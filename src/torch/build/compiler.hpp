// SPDX-License-Identifier: MIT
// The C++ compiler that is here, and whether it can do what a torch asks for.
#pragma once

#include <optional>
#include <string>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::torch_build {

/// $CXX, else the first of c++, g++ and clang++ in PATH: an absolute path. No program is run.
util::Result<std::string> find_compiler(const util::EnvSnapshot& env);

/// "g++ (Debian 12.2.0-14) 12.2.0": the first line of what it says of itself; its path where it says nothing.
std::string compiler_name(const std::string& compiler, const util::EnvSnapshot& env);

/// Compiles a few lines of the standard; nothing where that goes well.
std::optional<util::Error> try_compiler(const std::string& compiler, unsigned cxx_standard,
                                        const util::EnvSnapshot& env);

} // namespace hpcml::torch_build
