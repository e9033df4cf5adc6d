// SPDX-License-Identifier: MIT
// What runs the preflight's checks here: a helper that was built for the torch, the one that came with hpcml,
// or Python.
#pragma once

#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/launch/launch_request.hpp"

namespace hpcml::preflight {

/// In this order: what `hpcml torch build` has built for the torch of `command` (empty: the one that is found
/// here), the helper beside `program`, the checks in Python where one imports torch. The error says what can
/// be done.
util::Result<launch::PreflightProgram> choose_preflight(const std::string& program,
                                                        const std::vector<std::string>& command,
                                                        const util::EnvSnapshot& env);

/// Returns the directory in the user's cache with the checks in Python, which is created if it does not
/// exist.
util::Result<std::string> place_probe(const util::EnvSnapshot& env);

} // namespace hpcml::preflight
