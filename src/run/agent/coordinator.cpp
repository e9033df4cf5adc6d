// SPDX-License-Identifier: MIT
#include "run/agent/coordinator.hpp"

#include <fmt/format.h>

#include "core/failures/log_messages.hpp"
#include "core/util/overloaded.hpp"
#include "core/util/signal_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::agent {

namespace {
constexpr int k_stalled = 124; ///< exit code, as timeout says it

using std::chrono::seconds;

/// How often `tick` is called at least: twice a second, and now and then half a second later.
constexpr auto k_tick_interval = seconds(1);

} // namespace

Coordinator::Coordinator(CoordinatorOptions rules, Time now)
    : x_rules(std::move(rules)), x_since(now), x_nodes({x_rules.min_nodes, x_rules.max_nodes, x_rules.hosts}),
      x_join(x_rules.join_timeout, x_rules.extra_nodes_timeout, now), x_restarts(x_rules.max_restarts) {}

RegisterReply Coordinator::register_agent(AgentId id, const RegisterRequest& registration, Time now) {
  note_time(now);
  if (registration.job != x_rules.job) return {"belongs to another job", true};
  if (registration.run_id != x_rules.run_id)
    return {fmt::format("coordinates the run '{}', not '{}'", x_rules.run_id, registration.run_id), true};
  if (has_ended()) return {"coordinates a run that has ended", true};
  if (auto conflict = x_nodes.conflict(registration); !conflict.empty()) return {std::move(conflict), false};
  x_nodes.add(id, registration, now);
  if (x_state == State::gathering)
    gather(now);
  else if (!x_nodes.has_room())
    x_messages.push_back(fmt::format("{} joined as a spare: the run is full, and uses it if a node is lost",
                                     registration.host));
  return {};
}

/// Begins once enough have come.
void Coordinator::gather(Time now) {
  if (!x_nodes.leader() || x_restarts.is_pausing(now)) return;
  // After a stop those that are left do not wait for others.
  const bool is_first = x_attempt == 0 && x_restarts.used() == 0;
  if (x_join.may_begin(x_nodes, is_first, now)) begin(now);
}

void Coordinator::begin(Time now) {
  x_nodes.begin_attempt();
  x_cause.clear();
  x_restarts.begin_attempt(now);
  enter(State::serving, now);
  send(x_nodes.participants().front(), ServeCommand{setup_of(0), x_nodes.lost_hosts()});
  x_nodes.set_lost({});
}

AttemptSetup Coordinator::setup_of(unsigned node_rank) const {
  return {x_attempt, x_restarts.used(), x_nodes.world(), node_rank};
}

void Coordinator::start(const std::string& place) {
  x_state = State::running;
  unsigned node_rank = 0;
  for (const auto id : x_nodes.participants()) send(id, StartCommand{setup_of(node_rank++), place});
}

void Coordinator::on_event(AgentId id, const AgentEvent& event, Time now) {
  note_time(now);
  auto* const agent = x_nodes.find(id);
  if (agent == nullptr) return;
  agent->last_received = now;
  if (std::holds_alternative<Heartbeat>(event.what)) return send(id, Heartbeat{});
  if (has_ended()) return;
  if (const auto* leaving = std::get_if<LeavingEvent>(&event.what)) {
    if (!x_signalled_at) x_signalled_at = now;
    const auto reason =
        fmt::format("the agent of {} received {}", agent->host, util::signal_name(leaving->signal));
    return remove_agent(id, {.reason = reason, .code = 128 + leaving->signal}, now);
  }
  if (!agent->takes_part || event.attempt != x_attempt) return; // it reports an earlier attempt
  const util::Overloaded handle = {[&](const ServingEvent& serving) {
                                     if (x_state == State::serving && agent->leads) start(serving.place);
                                   },
                                   [&](const FailedEvent& failed) { take_failure(failed.failure, now); },
                                   [&](const EndedEvent& ended) {
                                     agent->ended = true;
                                     agent->good = ended.good;
                                     take_ended(now);
                                   },
                                   [&](const QuietEvent& quiet) {
                                     agent->quiet = quiet.is_quiet;
                                     handle_stall(now);
                                   },
                                   [&](const StacksEvent& read) {
                                     agent->looked = true;
                                     x_cause.add_stacks(read.stacks);
                                     handle_stall(now);
                                   },
                                   [](const LeavingEvent&) {}, // handled above, in every attempt
                                   [](const Heartbeat&) {}};
  std::visit(handle, event.what);
}

void Coordinator::take_failure(failures::RankFailure failure, Time now) {
  const auto arrival = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  failure.failed_at = arrival.count() - failure.reported_age;
  if (x_state == State::stopping && x_cause.add_failure(failure)) report_failure();
  // While the leader makes ready for all it may itself be what fails.
  if (x_state != State::running && x_state != State::looking && x_state != State::serving) return;
  x_cause.set_failure(std::move(failure));
  stop(x_restarts.count_failure(), {}, now);
}

StopReport Coordinator::stop_report() const {
  return {x_cause.stop_reason(), x_restarts.is_pending(), x_restarts.used(), x_restarts.pause(), {}};
}

void Coordinator::stop(Restart restart, const std::string& reason, Time now) {
  x_restarts.plan(restart, now);
  x_cause.set_reason(reason);
  const bool started = x_state != State::serving;
  enter(State::stopping, now);
  for (const auto id : x_nodes.participants()) {
    auto& agent = x_nodes.at(id);
    StopCommand command{stop_report(), x_attempt};
    if (agent.leads) command.stacks = x_cause.stacks();
    command.is_reporter = agent.leads && x_cause.is_reported();
    send(id, std::move(command));
    if (!started) agent.ended = true; // nothing runs yet
  }
  take_ended(now);
}

/// Reports the failure when all reports of the ranks have arrived, or the wait for them is over.
void Coordinator::report_failure() {
  x_cause.set_reported();
  if (const auto leader = x_nodes.leader()) send_reported(*leader, ReportCommand{stop_report()});
}

/// No rank that is left writes anything: stacks are read, then all are stopped as if one had failed.
void Coordinator::handle_stall(Time now) {
  const auto reason = fmt::format("no output from any rank for {}", x_rules.stall_timeout);
  if (x_state == State::running && x_nodes.every_running(&JoinedAgent::quiet)) {
    enter(State::looking, now);
    for (const auto id : x_nodes.participants())
      if (!x_nodes.at(id).ended) send(id, ReadStacksCommand{reason});
  }
  if (x_state != State::looking ||
      (!x_nodes.every_running(&JoinedAgent::looked) && now - x_since < x_rules.stack_time))
    return;
  x_cause.set_code(k_stalled);
  stop(x_restarts.count_failure(), reason, now);
}

void Coordinator::take_ended(Time now) {
  if (!x_nodes.all_ended() ||
      (x_state != State::running && x_state != State::looking && x_state != State::stopping))
    return;
  if (!x_cause.is_reported()) report_failure();
  if (x_state != State::stopping) return finish(x_nodes.all_succeeded() ? 0 : k_nodes_missing, {}, now);
  if (!x_restarts.is_pending()) return finish(x_cause.code(), x_cause.reason(), now);
  x_nodes.end_attempt();
  x_cause.forget_failure();
  ++x_attempt;
  enter(State::gathering, now);
  x_join.begin(now);
  x_restarts.begin_pause(now);
  gather(now);
  if (x_state == State::gathering && !x_rules.nodes_return && !x_nodes.has_enough())
    finish(k_nodes_missing, fmt::format("{}; {}", x_cause.reason(), x_nodes.describe_missing("")), now);
}

/// The leader was asked to end.
void Coordinator::remove_leader(AgentId id, const Removal& removal, Time now) {
  x_nodes.at(id).ended = true;
  // What a run that ends already ends for comes first: srun ends the agents that are left of it.
  if (x_state != State::stopping || x_restarts.is_pending() || x_cause.code() == 0)
    x_cause.set_code(removal.code);
  if (x_state != State::gathering && x_state != State::stopping)
    return stop(Restart::no, removal.reason, now);
  x_restarts.cancel();
  if (x_state == State::gathering) return finish(removal.code, removal.reason, now);
  take_ended(now);
}

/// Removes an agent that left, was lost or was asked to end. The others continue if the rules allow it.
void Coordinator::remove_agent(AgentId id, const Removal& removal, Time now) {
  const auto agent = x_nodes.at(id);
  if (agent.leads) return remove_leader(id, removal, now);
  const StopReason reason{.reason = removal.reason, .code = removal.code};
  removal.is_lost ? send(id, LostCommand{reason}) : send(id, EndCommand{reason, {}});
  x_nodes.remove(id);
  if (x_state == State::gathering) return gather_without(removal, now);
  if (!agent.takes_part) return;
  const bool restarts = removal.may_return || (x_nodes.is_elastic() && x_nodes.has_enough());
  if (x_state == State::stopping) {
    if (!restarts) cancel_restart(removal);
    return take_ended(now);
  }
  if (agent.ended && agent.good) return take_ended(now);
  x_cause.set_code(removal.code);
  stop(restarts ? Restart::after_pause : Restart::no, removal.reason, now);
}

void Coordinator::gather_without(const Removal& removal, Time now) {
  x_messages.push_back(removal.reason);
  // Between two attempts only a run whose nodes return waits for another one.
  if (x_attempt > 0 && !x_rules.nodes_return && !x_nodes.has_enough())
    return finish(removal.code, removal.reason, now);
  gather(now);
}

/// The run ends for this removal, unless a rank has failed or it ends already.
void Coordinator::cancel_restart(const Removal& removal) {
  if (x_restarts.is_pending() && !x_cause.has_failure()) {
    x_cause.set_code(removal.code);
    x_cause.set_reason(removal.reason);
  }
  x_restarts.cancel();
}

void Coordinator::on_disconnect(AgentId id, Time now) {
  note_time(now);
  const auto* found = x_nodes.find(id);
  if (found == nullptr) return;
  if (x_state == State::over) return x_nodes.forget(id);
  const auto agent = *found;
  const bool expected = agent.leads || !agent.takes_part || agent.ended || may_be_killed(now);
  if (!expected && x_state != State::gathering && x_state != State::ending) x_nodes.note_lost(agent.host);
  if (x_state == State::ending) {
    x_nodes.forget(id);
    return send_shutdown(now);
  }
  if (agent.leads) {
    x_nodes.forget(id);
    return finish(
        k_nodes_missing,
        fmt::format("the agent of the first node ({}) disconnected: it or its node stopped", agent.host),
        now);
  }
  const auto reason = fmt::format("the agent of {} disconnected: it or its node stopped", agent.host);
  remove_agent(id, {.reason = reason, .may_return = x_rules.nodes_return}, now);
}

void Coordinator::finish(int code, const std::string& reason, Time now) {
  x_cause.set_code(code);
  x_cause.set_reason(reason);
  x_nodes.set_lost(x_nodes.lost_hosts());
  enter(State::ending, now);
  // Without the first node's agent the next one reports it.
  bool is_reporter = !x_nodes.leader();
  for (const auto id : x_nodes.in_order()) {
    if (x_nodes.at(id).leads) continue;
    EndCommand end{x_cause.stop_reason(), {}};
    end.is_reporter = std::exchange(is_reporter, false);
    send(id, std::move(end));
  }
  send_shutdown(now);
}

/// Ends the leader last, because the other agents are connected to its store.
void Coordinator::send_shutdown(Time now) {
  const auto leader = x_nodes.leader();
  const bool others = x_nodes.in_order().size() > (leader ? 1 : 0);
  if (others && now - x_since < x_rules.shutdown_timeout) return;
  x_state = State::over;
  if (leader) send_reported(*leader, EndCommand{x_cause.stop_reason(), x_nodes.lost_hosts()});
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
    restart_timeouts(now);
  }
  x_last_call = now;
}

void Coordinator::restart_timeouts(Time now) {
  x_since = now;
  x_join.restart_timeouts(now);
  x_nodes.restart_timeouts(now);
}

void Coordinator::remove_silent_agents(Time now) {
  if (!x_rules.heartbeat.is_on()) return;
  while (!has_ended()) {
    // `stack_time` bounds the silence of an agent that reads stacks.
    const auto silent = x_nodes.find_silent(now, x_rules.heartbeat.timeout, x_state == State::looking);
    if (!silent) return;
    remove_silent(*silent, now);
  }
}

void Coordinator::remove_silent(AgentId id, Time now) {
  const auto& agent = x_nodes.at(id);
  const auto reason = fmt::format("{} the agent of {} for {}: treated as lost", failures::k_no_heartbeat,
                                  x_nodes.name_of(id), whole_seconds(now - agent.last_received));
  if (x_state != State::gathering && agent.takes_part && !agent.ended && !x_signalled_at)
    x_nodes.note_lost(agent.host);
  if (!agent.leads)
    return remove_agent(id, {.reason = reason, .may_return = x_rules.nodes_return, .is_lost = true}, now);
  send_reported(id, LostCommand{StopReason{.reason = reason, .code = k_nodes_missing}});
  x_nodes.forget(id);
  finish(k_nodes_missing, reason, now);
}

/// As torch's agents do: all ranks restart, with those of the nodes that have joined since, and this counts
/// against no limit. A run of which some node is done already is not restarted.
void Coordinator::add_newcomers(Time now) {
  const auto hosts = x_nodes.has_room() ? x_nodes.newcomers() : std::vector<std::string>();
  if (hosts.empty()) return;
  x_cause.set_code(k_nodes_missing); // if too few are left after that
  stop(Restart::at_once, fmt::format("{} joined", util::join(hosts, ", ")), now);
}

void Coordinator::tick(Time now) {
  note_time(now);
  remove_silent_agents(now);
  if (x_state == State::ending) return send_shutdown(now);
  if (x_state == State::looking) return handle_stall(now);
  if (x_state == State::running) return add_newcomers(now);
  if (x_state == State::stopping && !x_cause.is_reported() && now - x_since >= x_rules.attribution_delay)
    return report_failure();
  if (x_state != State::gathering) return;
  gather(now);
  if (x_state != State::gathering || x_nodes.has_enough()) return;
  if (x_join.is_over(now))
    return finish(k_nodes_missing,
                  x_nodes.describe_missing(fmt::format(" within {} s", x_rules.join_timeout.count())), now);
  if (const auto waited = x_join.report_due(now))
    x_messages.push_back(x_nodes.describe_missing(fmt::format(" after {} s", waited->count())));
}

} // namespace hpcml::agent
