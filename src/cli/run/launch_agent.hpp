// SPDX-License-Identifier: MIT
// The agent that `hpcml launch` is on a node where its flags ask for what only one that stays can do.
#pragma once

#include <string>

#include "core/util/result.hpp"
#include "run/agent/agent_request.hpp"

namespace hpcml::cli {

/// What the agent of this node is to do. The error says what to type where it cannot be one: in a step with a
/// task for each rank, or of another number of nodes.
util::Result<agent::AgentRequest> make_agent_request(launch::LaunchRequest request,
                                                     const launch::RuntimeContext& runtime);

/// What it would do besides starting the ranks, as a line for people.
std::string describe_agent(const agent::AgentRequest& request);

} // namespace hpcml::cli
