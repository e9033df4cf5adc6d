// SPDX-License-Identifier: MIT
// One agent per node: starts the ranks of its node with those of the others, and all again where one fails.
#pragma once

#include "run/agent/agent_request.hpp"
#include "run/launch/launch_context.hpp"

namespace hpcml::agent {

/// Runs the ranks of this node until the run has ended. Returns its exit code, the same on all nodes: 0,
/// that of the rank that failed first, 124 if the ranks stalled, 1 if nodes were missing, 125 if this agent
/// could not start. After a signal that ended its ranks, this process ends by it as well.
int run_agent(const AgentRequest& request, const launch::RuntimeContext& context);

} // namespace hpcml::agent
