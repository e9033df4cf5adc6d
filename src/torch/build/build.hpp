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
  std::string torch;    ///< a folder; empty: the one that is found
  std::string cache;    ///< where it is kept; empty: torch_cache
  unsigned jobs = 0;    ///< compilers at a time; 0: one per core, four at most (login nodes are shared)
  bool rebuild = false; ///< also where it is there already
};

/// What is there now.
struct Built {
  std::string directory; ///< absolute: k_helper_name, k_library_name and include/ below it
  std::string summary;   ///< one JSON object: was_built, torch, torch_lib, found_by, compiler, nccl,
                         ///< no_nccl, prefix, helper, library, include, flags, seconds
  bool was_built = false;
};

/// It, or everything that stands in the way.
struct BuildOutcome {
  std::optional<Built> built;
  std::vector<util::Error> problems; ///< none where it was built
};

/// A folder that was built.
Built read_built(const std::string& directory, bool was_built);

/// Hears a sentence for people while it goes on.
using MessageSink = std::function<void(const std::string&)>;

/// Compiles with find_compiler's compiler alone, several sources at a time. Nobody sees a half-made build.
BuildOutcome run_build(const BuildRequest& request, const util::EnvSnapshot& env, const std::string& cwd,
                       const MessageSink& report);

} // namespace hpcml::torch_build
