// SPDX-License-Identifier: MIT
// `hpcml launch` in a script: how many ranks it starts in its task, and what it is asked that only an agent
// does.
#pragma once

#include <optional>
#include <string>

#include "check/job_shape.hpp"

namespace hpcml::check {

/// Its ranks in each task; nothing where the launch has none of it, or they cannot be seen.
std::optional<long> ranks_of_own_launch(const Launch& launch, const LaunchShape& shape);

/// The flags among its words that make it the agent of a node: "--log-dir, --max-restarts"; empty for none.
std::string agent_options_of(const Launch& launch);

} // namespace hpcml::check
