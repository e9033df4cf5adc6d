// SPDX-License-Identifier: MIT
// Several compilers at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "torch/build/build_recipe.hpp"

namespace hpcml::torch_build {

/// What did not compile.
struct CompileFailure {
  CompileStep step;
  std::string output;  ///< all that the compiler said
  bool killed = false; ///< by a signal: the source need not be wrong
};

/// One per core that this process may use, between 1 and 4.
unsigned default_jobs();

/// Receives the number of finished steps, one call at a time.
using CompileProgress = std::function<void(std::size_t)>;

/// Runs the steps, `jobs` at a time, each without a shell; after the first that fails no other begins. Empty:
/// all well.
std::vector<CompileFailure> compile_all(const std::vector<CompileStep>& steps, unsigned jobs,
                                        const util::EnvSnapshot& env, const CompileProgress& receive = {});

/// Returns the first errors of a compiler's output in one line.
std::string first_errors(const std::string& output);

} // namespace hpcml::torch_build
