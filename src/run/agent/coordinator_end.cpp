// SPDX-License-Identifier: MIT
// How a run ends, for one agent or for all of them.
#include <algorithm>

#include "core/model/hostlist.hpp"
#include "core/model/id_set.hpp"
#include "core/util/text.hpp"
#include "run/agent/coordinator.hpp"

namespace hpcml::agent {

/// Removes an agent that left, was lost or was asked to end. The others continue if the rules allow it.
void Coordinator::remove_agent(AgentId id, const std::string& reason, int code, bool may_return,
                               AgentCommand::Kind kind, Time now) {
  const auto agent = x_agents.at(id);
  const bool took_part = agent.takes_part;
  if (agent.leads) {
    x_agents.at(id).ended = true;
    // What a run that ends already ends for comes first: srun ends the agents that are left of it.
    if (x_state != State::stopping || x_restart_pending || x_code == 0) x_code = code;
    if (x_state != State::gathering && x_state != State::stopping) return stop(Restart::no, reason, now);
    x_restart_pending = false;
    if (x_state == State::gathering) return finish(code, reason, now);
    return take_ended(now);
  }
  AgentCommand order;
  order.kind = kind;
  order.code = code;
  order.reason = reason;
  send(id, std::move(order));
  x_agents.erase(id);
  x_participants.erase(std::remove(x_participants.begin(), x_participants.end(), id), x_participants.end());
  if (x_state == State::gathering) {
    x_words.push_back(reason);
    // Between two attempts only a run whose nodes return waits for another one.
    if (x_attempt > 0 && !x_rules.nodes_return && !has_enough_nodes()) return finish(code, reason, now);
    return gather(now);
  }
  if (!took_part) return;
  const bool goes_on = may_return || (is_elastic() && has_enough_nodes());
  if (x_state == State::stopping) {
    if (!goes_on && x_restart_pending && !x_failure) x_code = code, x_reason = reason;
    if (!goes_on) x_restart_pending = false;
    return take_ended(now);
  }
  if (agent.ended && agent.good) return take_ended(now);
  x_code = code;
  stop(goes_on ? Restart::after_pause : Restart::no, reason, now);
}

void Coordinator::on_disconnect(AgentId id, Time now) {
  note_time(now);
  const auto found = x_agents.find(id);
  if (found == x_agents.end()) return;
  const bool expected =
      found->second.leads || !found->second.takes_part || found->second.ended || x_shutting_down;
  if (!expected && x_state != State::gathering && x_state != State::ending)
    x_lost.push_back(found->second.host);
  if (x_state == State::ending) {
    x_agents.erase(id);
    return send_shutdown(now);
  }
  if (x_agents.at(id).leads) {
    const auto reason = "the agent of the first node (" + x_agents.at(id).host + ") has gone";
    x_agents.erase(id);
    return finish(k_nodes_missing, reason, now);
  }
  remove_agent(id, "the agent of " + found->second.host + " has gone", k_nodes_missing, x_rules.nodes_return,
               AgentCommand::Kind::end, now);
}

void Coordinator::finish(int code, const std::string& reason, Time now) {
  x_code = code;
  x_reason = reason;
  x_lost = lost_hosts();
  x_state = State::ending;
  x_since = now;
  // Without the first node's agent the next one reports it.
  const auto all = in_order();
  const bool leaderless = !all.empty() && !x_agents.at(all.front()).leads;
  for (const auto id : all) {
    if (x_agents.at(id).leads) continue;
    AgentCommand order;
    order.kind = AgentCommand::Kind::end;
    order.code = code;
    order.reason = reason;
    order.failure = x_failure;
    order.says = leaderless && id == all.front();
    send(id, std::move(order));
  }
  send_shutdown(now);
}

/// The leader ends last: with it the place where the others are told goes.
void Coordinator::send_shutdown(Time now) {
  bool others = false;
  std::optional<AgentId> leader;
  for (const auto& [id, agent] : x_agents) {
    others = others || !agent.leads;
    if (agent.leads) leader = id;
  }
  if (others && now - x_since < x_rules.shutdown_timeout) return;
  x_state = State::over;
  if (!leader) return;
  AgentCommand order;
  order.kind = AgentCommand::Kind::end;
  order.code = x_code;
  order.reason = x_reason;
  order.failure = x_failure;
  order.lost = x_lost;
  send(*leader, std::move(order));
}

/// Where the agents of all other nodes go, and these are several, it is this node that nobody reaches.
std::vector<std::string> Coordinator::lost_hosts() const {
  const bool any_left = std::any_of(x_participants.begin(), x_participants.end(), [&](AgentId id) {
    const auto found = x_agents.find(id);
    return found == x_agents.end() || !found->second.leads;
  });
  return x_lost.size() > 1 && !any_left ? std::vector<std::string>{} : x_lost;
}

/// "2 of 4 nodes have not joined: node[003-004]"; numbers where only these are known.
std::string Coordinator::missing_nodes() const {
  std::vector<std::string> names;
  for (const auto& host : x_rules.hosts)
    if (std::none_of(x_agents.begin(), x_agents.end(),
                     [&](const auto& entry) { return entry.second.host == host; }))
      names.push_back(host);
  auto who = names.empty() ? std::string() : model::compress_hostlist(names);
  std::set<unsigned> joined;
  for (const auto& [id, agent] : x_agents)
    if (agent.node_rank) joined.insert(*agent.node_rank);
  if (who.empty() && !joined.empty() && joined.size() == x_agents.size()) {
    std::vector<unsigned> numbers;
    for (unsigned node = 0; node < x_rules.min_nodes; ++node)
      if (joined.count(node) == 0) numbers.push_back(node);
    if (!numbers.empty())
      who = (numbers.size() == 1 ? "node " : "nodes ") + model::IdSet::of(numbers).to_list();
  }
  const auto missing = x_rules.min_nodes - std::min<std::size_t>(x_agents.size(), x_rules.min_nodes);
  return std::to_string(missing) + " of " + (is_elastic() ? "at least " : "") +
         util::counted(x_rules.min_nodes, "node") + (missing == 1 ? " has" : " have") + " not joined" +
         (who.empty() ? "" : ": " + who);
}

} // namespace hpcml::agent
