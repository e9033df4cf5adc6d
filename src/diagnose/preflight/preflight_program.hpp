// SPDX-License-Identifier: MIT
// What runs the preflight's checks here: a helper that was built for the torch, the one that came with hpcml,
// or Python.
#pragma once

#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/launch/launch_context.hpp"

namespace hpcml::preflight {

/// Chooses in this order: the build of `hpcml torch build` for the torch of `command` (empty: the one that
/// is found here), the helper in the directory of `program`, the checks in Python if one imports torch. The
/// error contains a hint.
util::Result<launch::PreflightProgram> choose_preflight(const std::string& program,
                                                        const std::vector<std::string>& command,
                                                        const util::EnvSnapshot& env);

/// Returns the directory in the user's cache with the checks in Python, which is created if it does not
/// exist.
util::Result<std::string> place_probe(const util::EnvSnapshot& env);

} // namespace hpcml::preflight
