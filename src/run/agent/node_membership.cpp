// SPDX-License-Identifier: MIT
#include "run/agent/node_membership.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

#include "core/model/hostlist.hpp"
#include "core/model/id_set.hpp"
#include "core/util/text.hpp"

namespace hpcml::agent {

std::string NodeMembership::conflict(const RegisterRequest& registration) const {
  for (const auto& [id, agent] : x_agents) {
    if (registration.leads && agent.leads) return fmt::format("already has a first node: {}", agent.host);
    if (registration.node_rank && agent.node_rank == registration.node_rank)
      return fmt::format("already has node {}: {}", *registration.node_rank, agent.host);
  }
  if (is_elastic() || !has_all()) return {};
  return fmt::format("already has all {}", util::counted(x_limits.max_nodes, "node"));
}

void NodeMembership::add(AgentId id, const RegisterRequest& registration, Time now) {
  x_agents[id] = {.host = registration.host,
                  .node_rank = registration.node_rank,
                  .processes = registration.processes,
                  .leads = registration.leads,
                  .order = x_joined++,
                  .last_received = now};
}

void NodeMembership::remove(AgentId id) {
  x_agents.erase(id);
  std::erase(x_participants, id);
}

JoinedAgent* NodeMembership::find(AgentId id) {
  const auto found = x_agents.find(id);
  return found == x_agents.end() ? nullptr : &found->second;
}

std::optional<AgentId> NodeMembership::leader() const {
  for (const auto& [id, agent] : x_agents)
    if (agent.leads) return id;
  return std::nullopt;
}

std::vector<AgentId> NodeMembership::in_order() const {
  std::vector<AgentId> ids;
  for (const auto& [id, agent] : x_agents) ids.push_back(id);
  const auto key = [&](AgentId id) {
    const auto& agent = x_agents.at(id);
    return std::tuple(!agent.leads, agent.node_rank.value_or(~0U), agent.order);
  };
  std::sort(ids.begin(), ids.end(), [&](AgentId a, AgentId b) { return key(a) < key(b); });
  return ids;
}

void NodeMembership::begin_attempt() {
  x_participants = in_order();
  if (x_participants.size() > x_limits.max_nodes) x_participants.resize(x_limits.max_nodes);
  for (auto& [id, agent] : x_agents) agent.takes_part = false;
  for (const auto id : x_participants) {
    auto& agent = x_agents.at(id);
    agent.takes_part = true;
    agent.ended = agent.good = agent.quiet = agent.looked = false;
  }
}

std::vector<AgentId> NodeMembership::participants() const {
  std::vector<AgentId> left;
  std::copy_if(x_participants.begin(), x_participants.end(), std::back_inserter(left),
               [&](AgentId id) { return x_agents.count(id) > 0; });
  return left;
}

std::vector<NodeMember> NodeMembership::world() const {
  std::vector<NodeMember> world;
  for (const auto id : participants()) world.push_back({at(id).host, at(id).processes});
  return world;
}

bool NodeMembership::all_ended() const {
  const auto ids = participants();
  return std::all_of(ids.begin(), ids.end(), [&](AgentId id) { return at(id).ended; });
}

bool NodeMembership::all_succeeded() const {
  const auto ids = participants();
  return std::all_of(ids.begin(), ids.end(), [&](AgentId id) { return at(id).good; });
}

bool NodeMembership::every_running(bool JoinedAgent::*reported) const {
  const auto ids = participants();
  return !all_ended() &&
         std::all_of(ids.begin(), ids.end(), [&](AgentId id) { return at(id).ended || at(id).*reported; });
}

std::vector<std::string> NodeMembership::newcomers() const {
  std::vector<std::string> hosts;
  for (const auto id : in_order()) {
    const auto& agent = at(id);
    if (agent.takes_part && agent.ended) return {};
    if (!agent.takes_part) hosts.push_back(agent.host);
  }
  return hosts;
}

std::optional<AgentId> NodeMembership::find_silent(Time now, std::chrono::seconds timeout,
                                                   bool reads_stacks) const {
  for (const auto& [id, agent] : x_agents)
    if (!(reads_stacks && agent.takes_part && !agent.looked) && now - agent.last_received >= timeout)
      return id;
  return std::nullopt;
}

void NodeMembership::restart_timeouts(Time now) {
  for (auto& [id, agent] : x_agents) agent.last_received = now;
}

std::string NodeMembership::name_of(AgentId id) const {
  const auto place = std::find(x_participants.begin(), x_participants.end(), id);
  if (place == x_participants.end()) return at(id).host;
  return fmt::format("{} (node {} of {})", at(id).host, place - x_participants.begin(),
                     x_participants.size());
}

std::vector<std::string> NodeMembership::lost_hosts() const {
  const bool any_left = std::any_of(x_participants.begin(), x_participants.end(), [&](AgentId id) {
    const auto found = x_agents.find(id);
    return found == x_agents.end() || !found->second.leads;
  });
  return x_lost.size() > 1 && !any_left ? std::vector<std::string>{} : x_lost;
}

/// By host, if the run's hosts are known, else by number, if all agents have one.
std::string NodeMembership::missing_names() const {
  std::set<std::string> hosts;
  std::set<unsigned> numbers;
  for (const auto& [id, agent] : x_agents) {
    hosts.insert(agent.host);
    if (agent.node_rank) numbers.insert(*agent.node_rank);
  }
  std::vector<std::string> names;
  for (const auto& host : x_limits.hosts)
    if (hosts.count(host) == 0) names.push_back(host);
  if (!names.empty()) return model::compress_hostlist(names);
  std::vector<unsigned> missing;
  for (unsigned node = 0; node < x_limits.min_nodes; ++node)
    if (numbers.count(node) == 0) missing.push_back(node);
  if (numbers.empty() || numbers.size() != x_agents.size() || missing.empty()) return {};
  return (missing.size() == 1 ? "node " : "nodes ") + model::IdSet::of(missing).to_list();
}

std::string NodeMembership::describe_missing(const std::string& when) const {
  const auto missing = x_limits.min_nodes - std::min<std::size_t>(x_agents.size(), x_limits.min_nodes);
  const auto names = missing_names();
  return fmt::format("{} of {}{} {} not joined{}{}", missing, is_elastic() ? "at least " : "",
                     util::counted(x_limits.min_nodes, "node"), missing == 1 ? "has" : "have", when,
                     names.empty() ? "" : ": " + names);
}

} // namespace hpcml::agent
