// SPDX-License-Identifier: MIT
#include "run/agent/agent_loop.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/log.hpp"
#include "core/util/overloaded.hpp"
#include "run/agent/agent_protocol.hpp"
#include "run/agent/coordinator.hpp"
#include "run/agent/flight_recorder.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/join_rendezvous.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/separate_worlds.hpp"
#include "run/launch/serve_ranks.hpp"
#include "run/launch/supervisor.hpp"
#include "run/resolve/world.hpp"
#include "run/store/client.hpp"

namespace hpcml::agent {

namespace {

// The world of one attempt: its nodes, from the coordinator, and its rendezvous endpoint. Pure.

/// Returns the world for the first rank of this node. `own` is the world at the start of this process,
/// `address` that of the first node (empty: the step's), and `facts` are the agent's values for the ranks.
launch::World make_attempt_world(const launch::World& own, const AttemptSetup& setup,
                                 const std::string& address, const launch::TorchelasticFacts& facts) {
  launch::World world = own;
  auto& layout = world.layout;
  std::vector<std::string> nodes;
  layout.tasks_per_node.clear();
  layout.rank = layout.world_size = 0;
  for (unsigned i = 0; i < setup.world.size(); ++i) {
    const auto& node = setup.world[i];
    nodes.push_back(node.host);
    layout.tasks_per_node.push_back(node.processes);
    if (i < setup.node_rank) layout.rank += node.processes;
    layout.world_size += node.processes;
  }
  layout.nodes = std::move(nodes);
  layout.node_rank = setup.node_rank;
  layout.local_rank = 0;
  layout.local_world_size = layout.tasks_per_node[setup.node_rank];
  world.first_node = setup.world.front().host;
  if (!address.empty()) world.address = address;
  world.agent = facts;
  return world;
}

/// The time in which the coordinator must end all other agents after this one was asked to end.
constexpr auto k_shutdown_timeout = std::chrono::seconds(5);

} // namespace

AgentLoop::AgentLoop(const AgentRequest& request, const launch::RuntimeContext& context,
                     launch::ResolvedLaunch planned, AgentRendezvous rendezvous, RunDirectory directory,
                     const sigset_t& mask)
    : x_request(request), x_context(context), x_own(planned.node->world), x_planned(std::move(planned)),
      x_rendezvous(std::move(rendezvous)), x_directory(std::move(directory)), x_mask(mask),
      x_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT}),
      x_reporter(x_request, context, x_directory, x_rendezvous.leads, x_own.channel.is_open) {
  x_end.result.is_leader = x_rendezvous.leads;
  if (x_rendezvous.link->place().empty() || !x_request.heartbeat.is_on()) return;
  auto watchdog = AgentLivenessWatchdog::start(x_request.heartbeat, x_context.host);
  if (watchdog)
    x_watchdog = std::move(*watchdog);
  else
    util::log_error(watchdog.error());
  x_rendezvous.link->set_watchdog(x_watchdog.get());
}

AgentLoop::~AgentLoop() {
  end_store(x_attempt.store);
  for (auto& cache : x_attempt.caches) launch::release_cache(cache);
}

launch::LaunchOutcome AgentLoop::run() {
  while (!x_end.outcome) wait_for_command();
  // The others wait no more, and what is left to do may take long.
  x_rendezvous.link->set_watchdog(nullptr);
  x_watchdog.reset();
  const auto why = report_class();
  x_reporter.add(RunEnded{x_end.outcome->code, plan() ? plan()->world.agent->restarts : 0, why});
  return *x_end.outcome;
}

std::string AgentLoop::lost_place() const {
  return x_rendezvous.link->fault().empty() ? std::string() : x_rendezvous.link->place();
}

/// Why the run ended: the last line on standard error where it ended badly, once for all nodes.
std::optional<model::FailureClass> AgentLoop::report_class() const {
  const auto& outcome = *x_end.outcome;
  const auto why = launch::classify_end(run_result(x_end.result, outcome, x_end.command), x_context.env,
                                        std::chrono::system_clock::now(),
                                        x_rendezvous.leads ? x_context.ask_slurm : launch::AskSlurm());
  if (why && outcome.code != 0 && x_rendezvous.leads) launch::write_class(outcome.code, *why);
  return why;
}

int AgentLoop::wait_milliseconds() const {
  auto until = x_rendezvous.link->due();
  const auto limit = x_end.signalled_at + k_shutdown_timeout;
  if (x_end.result.signal != 0 && (!until || limit < *until)) until = limit;
  if (!until) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*until - Clock::now()).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, 60000));
}

/// Waits between attempts. Signals are treated like those that arrive while ranks run.
void AgentLoop::wait_for_command() {
  const auto& result = x_end.result;
  if (const auto command = x_rendezvous.link->take()) return handle_command(*command, nullptr);
  if (const auto fault = x_rendezvous.link->fault(); !fault.empty()) {
    if (result.signal == 0) util::log_error(fault);
    x_end.outcome = outcome_of_lost_connection(result, false);
    return;
  }
  const bool writes = x_rendezvous.link->has_output();
  pollfd ends[] = {{x_rendezvous.link->fd(), static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), 0},
                   {x_signals.fd(), POLLIN, 0}};
  if (::poll(ends, 2, wait_milliseconds()) > 0 && ends[1].revents != 0) take_signals();
  if (result.signal != 0 && Clock::now() >= x_end.signalled_at + k_shutdown_timeout)
    x_end.outcome = outcome_of_silence(result);
}

void AgentLoop::take_signals() {
  while (const int signal = x_signals.next()) {
    if (x_end.result.signal != 0) continue;
    x_end.result.signal = signal;
    x_end.signalled_at = Clock::now();
    send_event(LeavingEvent{signal});
  }
}

void AgentLoop::handle_command(const AgentCommand& command, const RunningRanks* ranks) {
  util::log_debug("command of the coordinator: " + store::FieldPrinter::print(command.what));
  const util::Overloaded handle = {
      [&](const Heartbeat&) {}, // the connection's own
      [&](const ServeCommand& serving) {
        if (ranks == nullptr) serve(serving);
      },
      [&](const StartCommand& starting) {
        if (ranks == nullptr) start(starting);
      },
      [&](const ReadStacksCommand& reading) {
        if (ranks != nullptr) ranks->workers.read_stacks_of(ranks->supervisor, reading.reason);
      },
      [&](const StopCommand& stop) {
        if (ranks == nullptr || ranks->workers.stop(stop, ranks->supervisor)) report_stop(stop, ranks);
      },
      [&](const ReportCommand& report) { report_stop(report, ranks); },
      [&](const EndCommand& last) { ranks != nullptr ? ranks->workers.end(last) : end(last); },
      [&](const LostCommand& lost) {
        ranks != nullptr ? ranks->workers.kill(lost, ranks->supervisor) : end({lost, {}});
      }};
  std::visit(handle, command.what);
}

void AgentLoop::report_stop(const StopReport& report, const RunningRanks* ranks) {
  x_reporter.report_stop(report, plan(), [&](util::LogLevel level, const std::string& text) {
    ranks != nullptr ? ranks->supervisor.print_line(level, text) : util::log_message(level, text);
  });
}

/// Reports a failure of this agent like that of a rank, because a run has only one first failure.
void AgentLoop::fail(const launch::LauncherFailure& failure) {
  FailedEvent event;
  event.failure.of_launcher = true;
  event.failure.host = x_context.host;
  event.failure.status = failure.exit_code << 8;
  event.failure.message = failure.error.what;
  util::log_error(launch::describe(failure));
  x_attempt.failure_reported = true;
  send_event(std::move(event));
}

launch::TorchelasticFacts AgentLoop::facts_for_ranks(const AttemptSetup& setup) const {
  launch::TorchelasticFacts facts;
  facts.restarts = setup.restarts;
  facts.max_restarts = x_request.max_restarts;
  facts.run_id = x_directory.run_id();
  facts.role = x_request.role;
  facts.error_directory = x_directory.attempt(setup.attempt);
  facts.serial = setup.attempt;
  facts.offered = {{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"}}; // as torchrun says it
  if (x_directory.is_kept())
    for (auto& variable : flight_recorder_variables(facts.error_directory))
      facts.offered.push_back(std::move(variable));
  return facts;
}

/// Plans this node for an attempt, once; false if that failed and was reported.
bool AgentLoop::prepare(const AttemptSetup& setup) {
  if (plan() && plan()->number == setup.attempt && plan()->node) return true;
  x_attempt.plan =
      Attempt{setup.attempt, make_attempt_world(x_own, setup, x_rendezvous.address, facts_for_ranks(setup)),
              nullptr, x_directory.attempt(setup.attempt), x_directory.is_kept()};
  x_attempt.failure_reported = false;
  x_reporter.begin_record(setup, x_rendezvous.begun);
  auto& world = x_attempt.plan->world;
  // One node is left of several: its ranks need no network.
  if (world.layout.node_count() == 1 && x_own.layout.node_count() > 1 && x_rendezvous.address.empty()) {
    const auto port = launch::free_loopback_port();
    world.address = "127.0.0.1";
    if (port && !world.port_given) world.port = *port;
  }
  x_rendezvous.link->keep_alive();
  auto prepared = launch::prepare_ranks(x_request.launch, x_context, world, std::exchange(x_planned, {}));
  x_rendezvous.link->keep_alive();
  if (const auto* failure = std::get_if<launch::LauncherFailure>(&prepared)) return fail(*failure), false;
  auto& ready = std::get<launch::PreparedRanks>(prepared);
  x_attempt.plan->node = ready.node;
  // The new holds are taken before the old ones are released, so that kept caches always have a holder.
  for (auto& cache : std::exchange(x_attempt.caches, std::move(ready.caches))) launch::release_cache(cache);
  for (unsigned local = 0; local < world.layout.local_world_size; ++local)
    if (const auto made = x_directory.make_rank(setup.attempt, world.layout.rank + local); !made)
      return fail({k_cannot_set_up, "log", made.error(), {}, x_context.host}), false;
  return true;
}

/// A fresh store for the attempt's ranks, before the old one goes.
void AgentLoop::serve(const ServeCommand& command) {
  x_reporter.report_lost(command.lost);
  if (!prepare(command)) return;
  const auto& world = plan()->world;
  pid_t before = std::exchange(x_attempt.store, -1);
  ServingEvent event;
  if (launch::needs_rendezvous(world, x_request.launch)) {
    const auto store = launch::serve_ranks(plan()->node, x_context, &x_attempt.activity);
    if (!store) {
      end_store(before);
      return fail({k_cannot_set_up, "store", store.error(), {}, x_context.host});
    }
    x_attempt.store = store->pid;
    event.place = store::place_text(world.address, store->port);
  }
  end_store(before);
  send_event(std::move(event));
}

void AgentLoop::end_store(pid_t& store) {
  if (store <= 0) return;
  ::kill(store, SIGKILL);
  ::waitpid(store, nullptr, 0);
  store = -1;
}

void AgentLoop::start(const StartCommand& command) {
  x_end.result.all_succeeded = false;
  if (!prepare(command))
    return send_event(EndedEvent{false}); // the others' ranks are waited for, and none is here
  auto& node = *plan()->node;
  if (command.place.empty())
    node.env.unset(launch::k_store_variable);
  else
    node.env.set(launch::k_store_variable, command.place);
  AttemptStarted facts{command.attempt, plan()->world.layout.world_size, {}};
  for (unsigned i = 0; i < command.world.size(); ++i)
    facts.nodes.push_back({i, command.world[i].host, command.world[i].processes});
  x_reporter.add(facts);
  WorkerGroup workers(x_request, x_context, *plan(), *x_rendezvous.link, x_reporter.record(), activity(),
                      [&](const AgentCommand& later, launch::Supervisor& supervisor) {
                        const RunningRanks ranks{workers, supervisor};
                        handle_command(later, &ranks);
                      });
  const auto outcome = run_ranks(workers);
  const auto& result = workers.result();
  if (result.signal != 0) x_end.result.signal = result.signal, x_end.signalled_at = Clock::now();
  if (result.end) return end(*result.end);
  if (result.line_lost) {
    x_end.outcome = outcome_of_lost_connection(x_end.result, true);
    return;
  }
  const bool failed = outcome.code != 0 && !outcome.stopped;
  if (failed && !x_attempt.failure_reported && !result.reported_failure && x_end.result.signal == 0)
    fail({outcome.code,
          "start",
          {fmt::format("the ranks of {} could not be started", x_context.host)},
          {},
          x_context.host});
  send_event(EndedEvent{outcome.code == 0 && !outcome.stopped});
}

launch::LaunchOutcome AgentLoop::run_ranks(WorkerGroup& workers) {
  auto launch_request = x_request.launch;
  launch_request.output.directory = x_directory.is_kept() ? plan()->directory : "";
  launch::SupervisionOptions oversight{&workers, x_mask, {}, x_directory.is_kept() ? "" : x_directory.path()};
  if (x_rendezvous.service) oversight.spared.push_back(*x_rendezvous.service);
  if (x_directory.watcher() > 0) oversight.spared.push_back(x_directory.watcher());
  if (x_watchdog) oversight.spared.push_back(x_watchdog->pid());
  launch::Supervisor ranks(launch_request, x_context, plan()->node, &oversight);
  if (x_attempt.store > 0) ranks.join_at(x_attempt.store);
  const auto outcome = ranks.run();
  auto& result = x_end.result;
  result.code = outcome.code;
  result.save_requested = result.save_requested || ranks.was_save_requested();
  result.all_succeeded = ranks.all_succeeded();
  x_attempt.evidence = launch::find_world_evidence(plan()->node, x_request.launch, ranks);
  if (ranks.has_lost_store()) x_attempt.store = -1; // waited for: its number may be another's
  workers.note_start_up(ranks);
  return outcome;
}

void AgentLoop::end(const EndCommand& command) {
  x_reporter.report_lost(command.lost);
  x_end.result.separate_worlds = command.code == 0 && x_attempt.evidence &&
                                 launch::report_separate_worlds(std::move(*x_attempt.evidence), activity());
  x_reporter.report_end(command, plan());
  x_end.command = command;
  x_end.outcome = outcome_of_command(x_end.result, command);
}

} // namespace hpcml::agent
