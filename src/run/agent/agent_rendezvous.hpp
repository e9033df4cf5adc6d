// SPDX-License-Identifier: MIT
// How the agents of a run find each other: the first node's serves, the others look for it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

#include "core/util/result.hpp"
#include "run/agent/agent_request.hpp"
#include "run/agent/link.hpp"
#include "run/launch/launch_context.hpp"
#include "run/resolve/world.hpp"

namespace hpcml::agent {

/// This agent's line, and what it has started for it.
struct AgentRendezvous {
  std::unique_ptr<CoordinatorConnection> link;
  std::optional<pid_t> service; ///< serves the conductor; this agent leads
  bool leads = false;
  std::string address; ///< of the first node, for the ranks; empty: the world's own
  launch::JobChannelKey channel =
      {}; ///< by which the agents, and the launchers of their ranks, trust each other
  std::chrono::steady_clock::time_point begun = {}; ///< when this agent began to look for the others
};

/// Joins the other agents. `world`: as the first rank of this process sees it, without other nodes outside a
/// Slurm step. `is_over` is polled while this agent waits.
util::Result<AgentRendezvous> join_agents(const AgentRequest& request, const launch::RuntimeContext& context,
                                          const launch::World& world, const std::string& run_id,
                                          const std::function<bool()>& is_over);

} // namespace hpcml::agent
