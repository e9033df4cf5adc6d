// SPDX-License-Identifier: MIT
// The nodes of a run, by their agents: who has joined, who takes part in the attempt, who was lost. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/agent/agent_protocol.hpp"

namespace hpcml::agent {

using AgentId = std::uint64_t;

/// How many nodes a run has.
struct NodeLimits {
  unsigned min_nodes = 1;
  unsigned max_nodes = 1;
  std::vector<std::string> hosts; ///< of all nodes, in their order; empty if not known
};

/// A node's agent.
struct JoinedAgent {
  std::string host;
  std::optional<unsigned> node_rank; ///< as it registered
  unsigned processes = 1;
  bool leads = false;
  std::uint64_t order = 0; ///< of its coming
  std::chrono::steady_clock::time_point last_received{};
  bool takes_part = false; ///< in this attempt, which the others are about:
  bool ended = false, good = false, quiet = false, looked = false;
};

class NodeMembership {
public:
  using Time = std::chrono::steady_clock::time_point;

  explicit NodeMembership(NodeLimits limits) : x_limits(std::move(limits)) {}

  /// Returns why an agent has no place among the others, as a clause; empty if it has one.
  std::string conflict(const RegisterRequest& registration) const;
  void add(AgentId id, const RegisterRequest& registration, Time now);
  void remove(AgentId id);
  /// The connection of an agent that the end of the run awaits has ended.
  void forget(AgentId id) { x_agents.erase(id); }
  /// Null if it has not joined, or was removed.
  JoinedAgent* find(AgentId id);
  JoinedAgent& at(AgentId id) { return x_agents.at(id); }
  const JoinedAgent& at(AgentId id) const { return x_agents.at(id); }

  bool is_elastic() const { return x_limits.min_nodes < x_limits.max_nodes; }
  bool has_enough() const { return x_agents.size() >= x_limits.min_nodes; }
  bool has_all() const { return x_agents.size() >= x_limits.max_nodes; }
  /// True if further nodes can take part in an attempt.
  bool has_room() const { return x_participants.size() < x_limits.max_nodes; }
  std::optional<AgentId> leader() const;
  /// Returns all agents: the leader first, then by their node ranks, then as they came.
  std::vector<AgentId> in_order() const;

  /// Chooses the agents of a new attempt.
  void begin_attempt();
  void end_attempt() { x_participants.clear(); }
  /// Returns the agents of the attempt that have not left, in the order of their node ranks.
  std::vector<AgentId> participants() const;
  std::vector<NodeMember> world() const;
  /// True if no rank of the attempt is left; `succeeded`: and all have exited with 0.
  bool all_ended() const;
  bool all_succeeded() const;
  /// True if ranks are left, and each agent that has some reported that: `quiet` or `looked`.
  bool every_running(bool JoinedAgent::*reported) const;
  /// Returns the hosts of the agents that wait for the next attempt; nothing if some agent's ranks have ended
  /// already.
  std::vector<std::string> newcomers() const;

  /// Returns an agent that has sent nothing for `timeout`. An agent that reads stacks sends nothing
  /// meanwhile.
  std::optional<AgentId> find_silent(Time now, std::chrono::seconds timeout, bool reads_stacks) const;
  void restart_timeouts(Time now);
  /// "node2 (node 2 of 4)"; the host alone if it does not take part.
  std::string name_of(AgentId id) const;

  void note_lost(const std::string& host) { x_lost.push_back(host); }
  /// Returns the hosts of lost agents; empty if several nodes, and all other ones, are lost, because then
  /// this node cannot be reached.
  std::vector<std::string> lost_hosts() const;
  void set_lost(std::vector<std::string> hosts) { x_lost = std::move(hosts); }

  /// "2 of 4 nodes have not joined within 60 s: node[003-004]", with " within 60 s" as `when`.
  std::string describe_missing(const std::string& when) const;

private:
  std::string missing_names() const;

  NodeLimits x_limits;
  std::map<AgentId, JoinedAgent> x_agents;
  std::uint64_t x_joined = 0; ///< agents so far
  std::vector<AgentId> x_participants;
  std::vector<std::string> x_lost; ///< hosts whose agents have died in this attempt
};

} // namespace hpcml::agent
