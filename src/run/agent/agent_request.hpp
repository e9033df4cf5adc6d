// SPDX-License-Identifier: MIT
// What an agent is asked to do: start the ranks of its node with those of the other nodes, stay with them,
// and start all of them again where one fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "run/agent/heartbeat.hpp"
#include "run/resolve/launch_request.hpp"

namespace hpcml::agent {

/// Rendezvous endpoint of agents outside a Slurm step.
struct RendezvousParameters {
  std::string host;                       ///< a name or number of the node that serves
  std::uint16_t port = 0;                 ///< 0 on one node: any
  std::string run_id;                     ///< the same for all agents of a run
  std::optional<unsigned> node_rank;      ///< unset: in the order of their coming, the node that serves first
  std::chrono::seconds join_timeout{600}; ///< for the least number of nodes to come
  std::chrono::seconds extra_nodes_timeout{30}; ///< for more, once the least number has come
};

struct AgentRequest {
  launch::LaunchRequest launch;                      ///< the ranks of a node, their command and their output
  unsigned max_restarts = 0;                         ///< of all ranks, each time a rank fails
  std::optional<std::chrono::seconds> stall_timeout; ///< time without output or store access
  HeartbeatOptions heartbeat;                        ///< to the coordinator and from it
  std::string log_directory;    ///< the directory of the run is created in it; empty: nothing is kept
  std::string run_id;           ///< empty: from the job and step, else "none"
  std::string role = "default"; ///< ROLE_NAME
  unsigned min_nodes = 0;       ///< 0: all of the step
  unsigned max_nodes = 0;
  std::optional<RendezvousParameters> place; ///< unset: the step's, or this machine alone
  std::string key_file = {}; ///< with `place`: of the agents' key; empty: HPCML_JOB_SECRET, else the user's
};

} // namespace hpcml::agent
