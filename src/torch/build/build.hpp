// SPDX-License-Identifier: MIT
// Builds the LibTorch helper and hpcml::ddp from the sources in this program, or finds what was built before.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "torch/build/torch_package.hpp"

namespace hpcml::torch_build {

/// What is asked for.
struct BuildRequest {
  std::string torch;    ///< a directory; empty: the one that is found
  std::string cache;    ///< where it is kept; empty: torch_cache
  unsigned jobs = 0;    ///< compilers at a time; 0: one per core, four at most (login nodes are shared)
  bool rebuild = false; ///< build even if it exists
};

/// A finished build.
struct CompletedBuild {
  std::string directory; ///< absolute: k_helper_name, k_library_name and include/ below it
  std::string summary;   ///< one JSON object: was_built, torch, torch_lib, found_by, compiler, nccl,
                         ///< no_nccl, prefix, helper, library, include, flags, seconds
  bool was_built = false;
};

/// The build, or all obstacles.
struct BuildOutcome {
  std::optional<CompletedBuild> built;
  std::vector<util::Error> problems; ///< none where it was built
};

/// Reads the directory of a build.
CompletedBuild read_built(const std::string& directory, bool was_built);

/// Receives messages during the build.
using ProgressSink = std::function<void(const std::string&)>;

/// Compiles only with find_compiler's compiler, several sources at a time. An incomplete build is never
/// visible.
BuildOutcome run_build(const BuildRequest& request, const util::EnvSnapshot& env, const std::string& cwd,
                       const ProgressSink& report);

} // namespace hpcml::torch_build
