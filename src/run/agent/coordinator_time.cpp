// SPDX-License-Identifier: MIT
// What the coordinator does since time has passed: agents that are silent, timeouts.
#include <algorithm>

#include "core/util/text.hpp"
#include "run/agent/coordinator.hpp"

namespace hpcml::agent {

namespace {

using std::chrono::seconds;

/// How often `tick` is called at least: twice a second, and now and then half a second later.
constexpr auto k_tick_interval = seconds(1);

} // namespace

/// If this process was paused (SIGSTOP, a suspended job or machine), the agents may have been paused as well,
/// and what they have sent meanwhile is not read yet: no agent is late for that time.
void Coordinator::note_time(Time now) {
  const bool paused =
      x_last_call && util::is_late(*x_last_call + k_tick_interval, now, x_rules.heartbeat.late_limit());
  if (paused) {
    // The only node's own agent conducts, and reads stacks meanwhile.
    if (x_rules.max_nodes > 1)
      x_words.push_back("the coordinator was paused for " + whole_seconds(now - *x_last_call) +
                        ": all timeouts begin again");
    restart_deadlines(now);
  }
  x_last_call = now;
}

void Coordinator::restart_deadlines(Time now) {
  x_since = now;
  if (x_enough_since) x_enough_since = now;
  for (auto& [id, agent] : x_agents) agent.heard = now;
}

void Coordinator::remove_silent_agents(Time now) {
  if (!x_rules.heartbeat.is_on()) return;
  const auto find_silent = [&] {
    return std::find_if(x_agents.begin(), x_agents.end(), [&](const auto& entry) {
      // An agent that reads stacks sends nothing meanwhile; `stack_time` bounds that.
      const auto& agent = entry.second;
      const bool reads_stacks = x_state == State::looking && agent.takes_part && !agent.looked;
      return !reads_stacks && now - agent.heard >= x_rules.heartbeat.timeout;
    });
  };
  while (x_state != State::ending && x_state != State::over) {
    const auto silent = find_silent();
    if (silent == x_agents.end()) return;
    remove_silent(silent->first, now);
  }
}

void Coordinator::remove_silent(AgentId id, Time now) {
  const auto& agent = x_agents.at(id);
  const auto place = std::find(x_participants.begin(), x_participants.end(), id);
  auto reason = agent.host;
  if (place != x_participants.end())
    reason += " (node " + std::to_string(place - x_participants.begin()) + " of " +
              std::to_string(x_participants.size()) + ")";
  reason += ": no heartbeat from its agent for " + whole_seconds(now - agent.heard) + ": treated as lost";
  if (x_state != State::gathering && agent.takes_part && !agent.ended && !x_shutting_down)
    x_lost.push_back(agent.host);
  if (!agent.leads)
    return remove_agent(id, reason, k_nodes_missing, x_rules.nodes_return, AgentCommand::Kind::lost, now);
  AgentCommand order;
  order.kind = AgentCommand::Kind::lost;
  order.code = k_nodes_missing;
  order.reason = reason;
  send(id, std::move(order));
  x_agents.erase(id);
  finish(k_nodes_missing, reason, now);
}

/// As torch's agents do: all ranks restart, with those of the nodes that have joined since, and this counts
/// against no limit. A run of which some node is done already is not restarted.
void Coordinator::add_newcomers(Time now) {
  if (!has_room()) return;
  std::vector<std::string> hosts;
  for (const auto id : in_order()) {
    const auto& agent = x_agents.at(id);
    if (agent.takes_part && agent.ended) return;
    if (!agent.takes_part) hosts.push_back(agent.host);
  }
  if (hosts.empty()) return;
  x_code = k_nodes_missing; // if too few are left after that
  stop(Restart::at_once, util::join(hosts, ", ") + " joined", now);
}

void Coordinator::tick(Time now) {
  note_time(now);
  remove_silent_agents(now);
  if (x_state == State::ending) return send_shutdown(now);
  if (x_state == State::looking) return handle_stall(now);
  if (x_state == State::running) return add_newcomers(now);
  if (x_state == State::stopping && !x_failure_reported && now - x_since >= x_rules.attribution_delay)
    return name_failure();
  if (x_state != State::gathering) return;
  gather(now);
  if (x_state != State::gathering || has_enough_nodes()) return;
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - x_since);
  if (waited >= x_rules.join_timeout)
    return finish(k_nodes_missing,
                  missing_nodes() + " within " + std::to_string(x_rules.join_timeout.count()) + " s", now);
  if (waited < x_next_word) return;
  x_words.push_back(missing_nodes() + " after " + std::to_string(waited.count()) + " s");
  x_next_word *= 3;
}

} // namespace hpcml::agent
