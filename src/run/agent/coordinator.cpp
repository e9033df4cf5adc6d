// SPDX-License-Identifier: MIT
#include "run/agent/coordinator.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/failures/log_messages.hpp"
#include "core/model/hostlist.hpp"
#include "core/model/id_set.hpp"
#include "core/util/process.hpp"
#include "core/util/signal_names.hpp"
#include "core/util/text.hpp"
#include "hpcml/exit_code.hpp"
#include "run/agent/failure_order.hpp"

namespace hpcml::agent {

namespace {
constexpr int k_stalled = 124; ///< exit code, as timeout says it

using std::chrono::seconds;

/// How often `tick` is called at least: twice a second, and now and then half a second later.
constexpr auto k_tick_interval = seconds(1);

} // namespace

Coordinator::Coordinator(CoordinatorOptions rules, Time now) : x_rules(std::move(rules)), x_since(now) {}

RegisterReply Coordinator::register_agent(AgentId id, const RegisterRequest& registration, Time now) {
  note_time(now);
  if (registration.job != x_rules.job) return {"belongs to another job", true};
  if (registration.run_id != x_rules.run_id)
    return {fmt::format("coordinates the run '{}', not '{}'", x_rules.run_id, registration.run_id), true};
  if (x_state == State::ending || x_state == State::over) return {"coordinates a run that has ended", true};
  for (const auto& [other_id, agent] : x_agents) {
    if (registration.leads && agent.leads)
      return {fmt::format("already has a first node: {}", agent.host), false};
    if (registration.node_rank && agent.node_rank == registration.node_rank)
      return {fmt::format("already has node {}: {}", *registration.node_rank, agent.host), false};
  }
  if (!is_elastic() && x_agents.size() >= x_rules.max_nodes)
    return {fmt::format("already has all {}", util::counted(x_rules.max_nodes, "node")), false};
  Agent agent;
  agent.host = registration.host;
  agent.node_rank = registration.node_rank;
  agent.processes = registration.processes;
  agent.leads = registration.leads;
  agent.order = x_agent_count++;
  agent.last_received = now;
  x_agents[id] = std::move(agent);
  if (x_state == State::gathering)
    gather(now);
  else if (!has_room())
    x_messages.push_back(fmt::format("{} joined as a spare: the run is full, and uses it if a node is lost",
                                     registration.host));
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
  send(x_participants.front(), {.kind = AgentCommand::Kind::serve,
                                .attempt = x_attempt,
                                .restarts = x_restarts,
                                .world = world(),
                                .lost = lost_hosts()});
  x_lost.clear();
}

void Coordinator::start(const std::string& place) {
  x_state = State::running;
  for (unsigned i = 0; i < x_participants.size(); ++i)
    send(x_participants[i], {.kind = AgentCommand::Kind::start,
                             .attempt = x_attempt,
                             .restarts = x_restarts,
                             .world = world(),
                             .node_rank = i,
                             .place = place});
}

void Coordinator::on_event(AgentId id, const AgentEvent& event, Time now) {
  note_time(now);
  const auto found = x_agents.find(id);
  if (found == x_agents.end()) return;
  auto& agent = found->second;
  agent.last_received = now;
  if (event.kind == AgentEvent::Kind::heartbeat) {
    return send(id, {.kind = AgentCommand::Kind::heartbeat}, false);
  }
  if (x_state == State::ending || x_state == State::over) return;
  if (event.kind == AgentEvent::Kind::leaving) {
    x_shutting_down = true;
    return remove_agent(
        id, fmt::format("the agent of {} received {}", agent.host, util::signal_name(event.signal)),
        128 + event.signal, false, AgentCommand::Kind::end, now);
  }
  if (!agent.takes_part || event.attempt != x_attempt) return; // it reports an earlier attempt
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
  failure.failed_at = arrival.count() - failure.reported_age;
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
  return {.kind = kind,
          .attempt = x_attempt,
          .restarts = x_restarts,
          .failure = x_failure,
          .restarts_all = x_restart_pending,
          .pause = x_pause,
          .code = x_code};
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

/// Names the failure when all reports of the ranks have arrived, or the wait for them is over.
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
  const auto reason = fmt::format("no output from any rank for {}", x_rules.stall_timeout);
  if (x_state == State::running && every(&Agent::quiet)) {
    x_state = State::looking;
    x_since = now;
    const AgentCommand order = {.kind = AgentCommand::Kind::look, .attempt = x_attempt, .reason = reason};
    for (const auto id : x_participants)
      if (!x_agents.at(id).ended) send(id, order);
  }
  if (x_state != State::looking || (!every(&Agent::looked) && now - x_since < x_rules.stack_time)) return;
  const bool again = x_restarts < x_rules.max_restarts;
  if (again) ++x_restarts;
  x_code = k_stalled;
  stop(again ? Restart::after_pause : Restart::no, reason, now);
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
    finish(k_nodes_missing, fmt::format("{}; {}", x_reason, missing_nodes("")), now);
}

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
  send(id, {.kind = kind, .reason = reason, .code = code});
  x_agents.erase(id);
  x_participants.erase(std::remove(x_participants.begin(), x_participants.end(), id), x_participants.end());
  if (x_state == State::gathering) {
    x_messages.push_back(reason);
    // Between two attempts only a run whose nodes return waits for another one.
    if (x_attempt > 0 && !x_rules.nodes_return && !has_enough_nodes()) return finish(code, reason, now);
    return gather(now);
  }
  if (!took_part) return;
  const bool restarts = may_return || (is_elastic() && has_enough_nodes());
  if (x_state == State::stopping) {
    if (!restarts && x_restart_pending && !x_failure) x_code = code, x_reason = reason;
    if (!restarts) x_restart_pending = false;
    return take_ended(now);
  }
  if (agent.ended && agent.good) return take_ended(now);
  x_code = code;
  stop(restarts ? Restart::after_pause : Restart::no, reason, now);
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
    const auto reason = fmt::format("the agent of the first node ({}) disconnected: it or its node stopped",
                                    x_agents.at(id).host);
    x_agents.erase(id);
    return finish(k_nodes_missing, reason, now);
  }
  remove_agent(id, fmt::format("the agent of {} disconnected: it or its node stopped", found->second.host),
               k_nodes_missing, x_rules.nodes_return, AgentCommand::Kind::end, now);
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
    send(id, {.kind = AgentCommand::Kind::end,
              .failure = x_failure,
              .reason = reason,
              .code = code,
              .is_reporter = leaderless && id == all.front()});
  }
  send_shutdown(now);
}

/// Ends the leader last, because the other agents are connected to its store.
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
  send(*leader, {.kind = AgentCommand::Kind::end,
                 .failure = x_failure,
                 .reason = x_reason,
                 .code = x_code,
                 .lost = x_lost});
}

/// Returns the lost hosts; empty if several nodes, and all other ones, are lost, because then this node
/// cannot be reached.
std::vector<std::string> Coordinator::lost_hosts() const {
  const bool any_left = std::any_of(x_participants.begin(), x_participants.end(), [&](AgentId id) {
    const auto found = x_agents.find(id);
    return found == x_agents.end() || !found->second.leads;
  });
  return x_lost.size() > 1 && !any_left ? std::vector<std::string>{} : x_lost;
}

/// "2 of 4 nodes have not joined within 60 s: node[003-004]", with " within 60 s" as `when`.
std::string Coordinator::missing_nodes(const std::string& when) const {
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
  return fmt::format("{} of {}{} {} not joined{}{}", missing, is_elastic() ? "at least " : "",
                     util::counted(x_rules.min_nodes, "node"), missing == 1 ? "has" : "have", when,
                     who.empty() ? "" : fmt::format(": {}", who));
}

/// If this process was paused (SIGSTOP, a suspended job or machine), the agents may have been paused as well,
/// and what they have sent meanwhile is not read yet: no agent is late for that time.
void Coordinator::note_time(Time now) {
  const bool paused =
      x_last_call && util::is_late(*x_last_call + k_tick_interval, now, x_rules.heartbeat.late_limit());
  if (paused) {
    // The only node's own agent conducts, and reads stacks meanwhile.
    if (x_rules.max_nodes > 1)
      x_messages.push_back(fmt::format(
          "the run's coordinator was paused for {} (job suspended or node overloaded), and the run continues",
          whole_seconds(now - *x_last_call)));
    restart_deadlines(now);
  }
  x_last_call = now;
}

void Coordinator::restart_deadlines(Time now) {
  x_since = now;
  if (x_enough_since) x_enough_since = now;
  for (auto& [id, agent] : x_agents) agent.last_received = now;
}

void Coordinator::remove_silent_agents(Time now) {
  if (!x_rules.heartbeat.is_on()) return;
  const auto find_silent = [&] {
    return std::find_if(x_agents.begin(), x_agents.end(), [&](const auto& entry) {
      // An agent that reads stacks sends nothing meanwhile; `stack_time` bounds that.
      const auto& agent = entry.second;
      const bool reads_stacks = x_state == State::looking && agent.takes_part && !agent.looked;
      return !reads_stacks && now - agent.last_received >= x_rules.heartbeat.timeout;
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
  const auto node = place == x_participants.end()
                        ? agent.host
                        : fmt::format("{} (node {} of {})", agent.host, place - x_participants.begin(),
                                      x_participants.size());
  const auto reason = fmt::format("{} the agent of {} for {}: treated as lost", failures::k_no_heartbeat,
                                  node, whole_seconds(now - agent.last_received));
  if (x_state != State::gathering && agent.takes_part && !agent.ended && !x_shutting_down)
    x_lost.push_back(agent.host);
  if (!agent.leads)
    return remove_agent(id, reason, k_nodes_missing, x_rules.nodes_return, AgentCommand::Kind::lost, now);
  send(id, {.kind = AgentCommand::Kind::lost, .reason = reason, .code = k_nodes_missing});
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
  stop(Restart::at_once, fmt::format("{} joined", util::join(hosts, ", ")), now);
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
    return finish(k_nodes_missing, missing_nodes(fmt::format(" within {} s", x_rules.join_timeout.count())),
                  now);
  if (waited < x_next_word) return;
  x_messages.push_back(missing_nodes(fmt::format(" after {} s", waited.count())));
  x_next_word *= 3;
}

} // namespace hpcml::agent
