// SPDX-License-Identifier: MIT
#include "run/agent/coordinator.hpp"

#include <algorithm>

#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "hpcml/exit_code.hpp"
#include "run/agent/failure_order.hpp"
#include "run/launch/rank_process.hpp"

namespace hpcml::agent {

namespace {

constexpr int k_stalled = 124; ///< exit code, as timeout says it

} // namespace

Coordinator::Coordinator(CoordinatorOptions rules, Time now) : x_rules(std::move(rules)), x_since(now) {}

RegisterReply Coordinator::register_agent(AgentId id, const RegisterRequest& registration, Time now) {
  note_time(now);
  if (registration.job != x_rules.job) return {"is another job's", true};
  if (registration.run_id != x_rules.run_id) return {"conducts the run " + x_rules.run_id, true};
  if (x_state == State::ending || x_state == State::over) return {"conducts a run that has ended", true};
  for (const auto& [other_id, agent] : x_agents) {
    if (registration.leads && agent.leads)
      return {"has an agent that leads already, on " + agent.host, false};
    if (registration.node_rank && agent.node_rank == registration.node_rank)
      return {"has node " + std::to_string(*registration.node_rank) + " already: " + agent.host, false};
  }
  if (!is_elastic() && x_agents.size() >= x_rules.max_nodes)
    return {"has its " + util::counted(x_rules.max_nodes, "node") + " already", false};
  Agent agent;
  agent.host = registration.host;
  agent.node_rank = registration.node_rank;
  agent.processes = registration.processes;
  agent.leads = registration.leads;
  agent.order = x_agent_count++;
  agent.heard = now;
  x_agents[id] = std::move(agent);
  if (x_state == State::gathering)
    gather(now);
  else if (!has_room())
    x_words.push_back(registration.host + " joined and takes part after the next restart");
  return {};
}

std::vector<AgentId> Coordinator::in_order() const {
  std::vector<AgentId> ids;
  for (const auto& [id, agent] : x_agents) ids.push_back(id);
  std::sort(ids.begin(), ids.end(), [&](AgentId a, AgentId b) {
    const auto &first = x_agents.at(a), &second = x_agents.at(b);
    const auto key = [](const Agent& agent) {
      return std::tuple(!agent.leads, agent.node_rank.value_or(~0U), agent.order);
    };
    return key(first) < key(second);
  });
  return ids;
}

std::vector<NodeMember> Coordinator::world() const {
  std::vector<NodeMember> world;
  for (const auto id : x_participants) world.push_back({x_agents.at(id).host, x_agents.at(id).processes});
  return world;
}

/// Begins once enough have come.
void Coordinator::gather(Time now) {
  const bool led =
      std::any_of(x_agents.begin(), x_agents.end(), [](const auto& entry) { return entry.second.leads; });
  if (!led || is_pausing(now)) return;
  if (!has_enough_nodes()) {
    x_enough_since.reset();
    return;
  }
  if (!x_enough_since) x_enough_since = now;
  // After a stop those that are left do not wait for others.
  const bool first = x_attempt == 0 && x_restarts == 0;
  if (x_agents.size() >= x_rules.max_nodes || !first || now - *x_enough_since >= x_rules.extra_nodes_timeout)
    begin(now);
}

void Coordinator::begin(Time now) {
  x_participants = in_order();
  if (x_participants.size() > x_rules.max_nodes) x_participants.resize(x_rules.max_nodes);
  for (auto& [id, agent] : x_agents) agent.takes_part = false;
  for (const auto id : x_participants) {
    auto& agent = x_agents.at(id);
    agent.takes_part = true;
    agent.ended = agent.good = agent.quiet = agent.looked = false;
  }
  x_failure.reset();
  x_failure_reported = true;
  x_stacks.clear();
  x_reason.clear();
  x_enough_since.reset();
  x_state = State::serving;
  x_since = x_begun = now;
  x_pause_until.reset();
  AgentCommand order;
  order.kind = AgentCommand::Kind::serve;
  order.attempt = x_attempt;
  order.restarts = x_restarts;
  order.world = world();
  order.lost = lost_hosts();
  x_lost.clear();
  send(x_participants.front(), std::move(order));
}

void Coordinator::start(const std::string& place) {
  x_state = State::running;
  for (unsigned i = 0; i < x_participants.size(); ++i) {
    AgentCommand order;
    order.kind = AgentCommand::Kind::start;
    order.attempt = x_attempt;
    order.restarts = x_restarts;
    order.world = world();
    order.node_rank = i;
    order.place = place;
    send(x_participants[i], std::move(order));
  }
}

void Coordinator::on_event(AgentId id, const AgentEvent& event, Time now) {
  note_time(now);
  const auto found = x_agents.find(id);
  if (found == x_agents.end()) return;
  auto& agent = found->second;
  agent.heard = now;
  if (event.kind == AgentEvent::Kind::heartbeat) {
    AgentCommand answer;
    answer.kind = AgentCommand::Kind::heartbeat;
    return send(id, std::move(answer), false);
  }
  if (x_state == State::ending || x_state == State::over) return;
  if (event.kind == AgentEvent::Kind::leaving) {
    x_shutting_down = true;
    return remove_agent(
        id, "the agent of " + agent.host + " was asked to end by " + launch::signal_name(event.signal),
        128 + event.signal, false, AgentCommand::Kind::end, now);
  }
  if (!agent.takes_part || event.attempt != x_attempt) return; // it is behind
  switch (event.kind) {
  case AgentEvent::Kind::serving:
    if (x_state == State::serving && agent.leads) start(event.place);
    break;
  case AgentEvent::Kind::failed: take_failure(event.failure, now); break;
  case AgentEvent::Kind::ended:
    agent.ended = true;
    agent.good = event.good;
    take_ended(now);
    break;
  case AgentEvent::Kind::quiet:
  case AgentEvent::Kind::busy:
    agent.quiet = event.kind == AgentEvent::Kind::quiet;
    handle_stall(now);
    break;
  case AgentEvent::Kind::looked:
    agent.looked = true;
    if (!event.stacks.empty()) x_stacks.push_back(event.stacks);
    handle_stall(now);
    break;
  case AgentEvent::Kind::leaving:
  case AgentEvent::Kind::heartbeat: break;
  }
}

void Coordinator::take_failure(failures::RankFailure failure, Time now) {
  const auto arrival = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  failure.failed_at = arrival.count() - failure.told_age;
  if (x_state == State::stopping && !x_failure_reported && precedes(failure, *x_failure)) {
    if (!failure.cut_short) x_code = util::exit_code_of_status(failure.status);
    x_failure = failure;
    if (!may_be_secondary(*x_failure)) name_failure();
  }
  // While the leader makes ready for all it may itself be what fails.
  if (x_state != State::running && x_state != State::looking && x_state != State::serving) return;
  x_failure = std::move(failure);
  x_failure_reported = !may_be_secondary(*x_failure);
  const bool again = x_restarts < x_rules.max_restarts;
  if (again) ++x_restarts;
  x_code = util::exit_code_of_status(x_failure->status);
  stop(again ? Restart::after_pause : Restart::no, {}, now);
}

AgentCommand Coordinator::order_after_failure(AgentCommand::Kind kind) const {
  AgentCommand order;
  order.kind = kind;
  order.attempt = x_attempt;
  order.restarts = x_restarts;
  order.failure = x_failure;
  order.restarts_all = x_restart_pending;
  order.pause = x_pause;
  order.code = x_code;
  return order;
}

void Coordinator::stop(Restart restart, const std::string& reason, Time now) {
  x_restart_pending = restart != Restart::no;
  x_pause = restart == Restart::after_pause ? x_backoff.next(now - x_begun) : std::chrono::seconds(0);
  x_reason = reason;
  const bool started = x_state != State::serving;
  x_state = State::stopping;
  x_since = now;
  for (const auto id : x_participants) {
    if (x_agents.find(id) == x_agents.end()) continue;
    AgentCommand order = order_after_failure(AgentCommand::Kind::stop);
    order.reason = reason;
    if (x_agents.at(id).leads) order.stacks = x_stacks;
    send(id, std::move(order), x_failure_reported);
    if (!started) x_agents.at(id).ended = true; // nothing runs yet
  }
  take_ended(now);
}

/// Once nothing more is to be heard of the ranks, or nobody is to wait for it any longer.
void Coordinator::name_failure() {
  x_failure_reported = true;
  for (const auto& [id, agent] : x_agents) {
    if (!agent.leads) continue;
    return send(id, order_after_failure(AgentCommand::Kind::name));
  }
}

/// All that is left says nothing: its stacks are looked at, then it is stopped as if it had failed.
void Coordinator::handle_stall(Time now) {
  const auto every = [&](bool Agent::*flag) {
    bool any = false;
    for (const auto id : x_participants) {
      const auto& agent = x_agents.at(id);
      if (agent.ended) continue;
      any = true;
      if (!(agent.*flag)) return false;
    }
    return any;
  };
  if (x_state == State::running && every(&Agent::quiet)) {
    x_state = State::looking;
    x_since = now;
    AgentCommand order;
    order.kind = AgentCommand::Kind::look;
    order.attempt = x_attempt;
    order.reason = "nothing has come of any rank for " + x_rules.stall_timeout;
    for (const auto id : x_participants)
      if (!x_agents.at(id).ended) send(id, order);
  }
  if (x_state != State::looking || (!every(&Agent::looked) && now - x_since < x_rules.stack_time)) return;
  const bool again = x_restarts < x_rules.max_restarts;
  if (again) ++x_restarts;
  x_code = k_stalled;
  stop(again ? Restart::after_pause : Restart::no,
       "nothing has come of any rank for " + x_rules.stall_timeout, now);
}

void Coordinator::take_ended(Time now) {
  bool all = true, good = true;
  for (const auto id : x_participants) {
    const auto found = x_agents.find(id);
    if (found == x_agents.end()) continue;
    all = all && found->second.ended;
    good = good && found->second.good;
  }
  if (!all || (x_state != State::running && x_state != State::looking && x_state != State::stopping)) return;
  if (!x_failure_reported) name_failure();
  if (x_state != State::stopping) return finish(good ? 0 : k_nodes_missing, {}, now);
  if (!x_restart_pending) return finish(x_code, x_reason, now);
  x_participants.clear();
  x_failure.reset(); // it is reported, and is not why a run ends that ends during the pause
  ++x_attempt;
  x_state = State::gathering;
  x_since = now;
  x_next_word = std::chrono::seconds(20);
  if (x_pause.count() > 0) x_pause_until = now + x_pause;
  gather(now);
  if (x_state == State::gathering && !x_rules.nodes_return && !has_enough_nodes())
    finish(k_nodes_missing, x_reason + "; " + missing_nodes(), now);
}

} // namespace hpcml::agent
