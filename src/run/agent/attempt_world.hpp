// SPDX-License-Identifier: MIT
// The world of one attempt: who takes part, as the conductor says, and where the ranks meet. Pure.
#pragma once

#include <string>

#include "run/agent/agent_protocol.hpp"
#include "run/launch/world.hpp"

namespace hpcml::agent {

/// The world as the first rank of this node sees it. `own`: what this process found at its start; `address`:
/// of the first node, empty: the step's; `facts`: what the ranks are told of the agent.
launch::World make_attempt_world(const launch::World& own, const AgentCommand& order,
                                 const std::string& address, const launch::AgentFacts& facts);

} // namespace hpcml::agent
