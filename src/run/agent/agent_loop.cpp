// SPDX-License-Identifier: MIT
#include "run/agent/agent_loop.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <poll.h>
#include <string>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/failures/failure_report.hpp"
#include "core/util/file.hpp"
#include "core/util/log.hpp"
#include "run/agent/agent_protocol.hpp"
#include "run/agent/coordinator.hpp"
#include "run/agent/flight_recorder.hpp"
#include "run/agent/stop_messages.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/join_rendezvous.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/report_bad_node.hpp"
#include "run/launch/separate_worlds.hpp"
#include "run/launch/serve_ranks.hpp"
#include "run/resolve/world.hpp"
#include "run/store/client.hpp"

namespace hpcml::agent {

namespace {

// The world of one attempt: its nodes, from the coordinator, and its rendezvous endpoint. Pure.

/// Returns the world for the first rank of this node. `own` is the world at the start of this process,
/// `address` that of the first node (empty: the step's), and `facts` are the agent's values for the ranks.
launch::World make_attempt_world(const launch::World& own, const AgentCommand& order,
                                 const std::string& address, const launch::AgentFacts& facts) {
  launch::World world = own;
  auto& layout = world.layout;
  std::vector<std::string> nodes;
  layout.tasks_per_node.clear();
  layout.rank = layout.world_size = 0;
  for (unsigned i = 0; i < order.world.size(); ++i) {
    const auto& node = order.world[i];
    nodes.push_back(node.host);
    layout.tasks_per_node.push_back(node.processes);
    if (i < order.node_rank) layout.rank += node.processes;
    layout.world_size += node.processes;
  }
  layout.nodes = std::move(nodes);
  layout.node_rank = order.node_rank;
  layout.local_rank = 0;
  layout.local_world_size = layout.tasks_per_node[order.node_rank];
  world.first_node = order.world.front().host;
  if (!address.empty()) world.address = address;
  world.agent = facts;
  return world;
}

/// The time in which the coordinator must end all other agents after this one was asked to end.
constexpr auto k_shutdown_timeout = std::chrono::seconds(5);

/// Returns the signals that ask an agent to end. They are blocked, and read in the loop.
sigset_t end_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, signal);
  return set;
}

} // namespace

AgentLoop::AgentLoop(const AgentRequest& request, const launch::RuntimeContext& context,
                     launch::ResolvedLaunch planned, AgentRendezvous rendezvous, RunDirectory directory,
                     std::string run_id, const sigset_t& mask)
    : x_request(request), x_context(context), x_own(planned.node->world), x_planned(std::move(planned)),
      x_rendezvous(std::move(rendezvous)), x_directory(std::move(directory)), x_run_id(std::move(run_id)),
      x_mask(mask) {
  const auto signals = end_signals();
  x_signals = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (x_rendezvous.link->place().empty() || !x_request.heartbeat.is_on()) return;
  auto watchdog = AgentLivenessWatchdog::start(x_request.heartbeat, x_context.host);
  if (watchdog)
    x_watchdog = std::move(*watchdog);
  else
    util::log_error(watchdog.error());
  x_rendezvous.link->set_watchdog(x_watchdog.get());
}

AgentLoop::~AgentLoop() {
  end_store(x_store);
  for (auto& cache : x_caches) launch::release_cache(cache);
  if (x_signals >= 0) ::close(x_signals);
}

launch::Outcome AgentLoop::run() {
  while (!x_end) wait_for_order();
  // The others wait no more, and what is left to do may take long.
  x_rendezvous.link->set_watchdog(nullptr);
  x_watchdog.reset();
  const auto why = report_class();
  note(RunEnded{x_end->code, x_attempt ? x_attempt->world.agent->restarts : 0, why});
  return *x_end;
}

std::string AgentLoop::lost_place() const {
  return x_rendezvous.link->fault().empty() ? std::string() : x_rendezvous.link->place();
}

/// Why the run ended: the last line on standard error where it ended badly, once for all nodes.
std::optional<model::FailureClass> AgentLoop::report_class() const {
  const auto why = launch::classify_end({.code = x_end->code,
                                         .signal = x_signal != 0 ? x_signal : x_run_signal,
                                         .save_requested = x_saving,
                                         .failure = x_failure_class,
                                         .nodes_missing = x_end->code == k_nodes_missing},
                                        x_context.env, std::chrono::system_clock::now(),
                                        x_rendezvous.leads ? x_context.ask_slurm : launch::AskSlurm());
  if (why && x_end->code != 0 && x_rendezvous.leads) launch::write_class(x_end->code, *why);
  return why;
}

int AgentLoop::wait_milliseconds() const {
  auto until = x_rendezvous.link->due();
  if (x_signal != 0 && (!until || x_leaving + k_shutdown_timeout < *until))
    until = x_leaving + k_shutdown_timeout;
  if (!until) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*until - Clock::now()).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, 60000));
}

/// The process that joins the agents is the first node's own; for the others it is that node that they lack.
int AgentLoop::code_of_lost_line() const { return x_rendezvous.leads ? k_cannot_set_up : k_nodes_missing; }

/// Waits between attempts. Signals are treated like those that arrive while ranks run.
void AgentLoop::wait_for_order() {
  if (auto order = x_rendezvous.link->take()) return handle_command(*order);
  if (const auto fault = x_rendezvous.link->fault(); !fault.empty()) {
    if (x_signal == 0) util::log_error(fault);
    x_end = launch::Outcome{x_signal != 0 ? 128 + x_signal : code_of_lost_line(), x_signal};
    return;
  }
  const bool writes = x_rendezvous.link->has_output();
  pollfd ends[] = {{x_rendezvous.link->fd(), static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), 0},
                   {x_signals, POLLIN, 0}};
  if (::poll(ends, 2, wait_milliseconds()) > 0 && ends[1].revents != 0) take_signals();
  if (x_signal != 0 && Clock::now() >= x_leaving + k_shutdown_timeout)
    x_end = launch::Outcome{128 + x_signal, x_signal};
}

void AgentLoop::take_signals() {
  signalfd_siginfo info{};
  while (::read(x_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (x_signal != 0) continue;
    x_signal = static_cast<int>(info.ssi_signo);
    x_leaving = Clock::now();
    AgentEvent event;
    event.kind = AgentEvent::Kind::leaving;
    event.signal = x_signal;
    send_event(std::move(event));
  }
}

void AgentLoop::handle_command(const AgentCommand& order) {
  note_lost(order);
  switch (order.kind) {
  case AgentCommand::Kind::serve: return serve(order);
  case AgentCommand::Kind::start: return start(order);
  case AgentCommand::Kind::stop: // nothing runs here
  case AgentCommand::Kind::name: return report_stop(order, util::log_message);
  case AgentCommand::Kind::lost: // no rank of it runs any more
  case AgentCommand::Kind::end: return end(order);
  case AgentCommand::Kind::heartbeat: // the link's own
  case AgentCommand::Kind::look: return;
  }
}

void AgentLoop::send_event(AgentEvent event) {
  event.attempt = x_attempt ? x_attempt->number : 0;
  x_rendezvous.link->send_event(event);
}

/// Reports a failure of this agent like that of a rank, because a run has only one first failure.
void AgentLoop::fail(const launch::LauncherFailure& failure) {
  AgentEvent event;
  event.kind = AgentEvent::Kind::failed;
  event.failure.of_launcher = true;
  event.failure.host = x_context.host;
  event.failure.status = failure.exit_code << 8;
  event.failure.message = failure.error.what;
  util::log_error(launch::describe(failure));
  x_failure_reported = true;
  send_event(std::move(event));
}

/// Plans this node for an attempt, once; false if that failed and was reported.
bool AgentLoop::prepare(const AgentCommand& order) {
  if (x_attempt && x_attempt->number == order.attempt && x_attempt->node) return true;
  launch::AgentFacts facts;
  facts.restarts = order.restarts;
  facts.max_restarts = x_request.max_restarts;
  facts.run_id = x_run_id;
  facts.role = x_request.role;
  facts.error_directory = x_directory.attempt(order.attempt);
  facts.serial = order.attempt;
  facts.offered = {{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"}}; // as torchrun says it
  if (x_directory.is_kept())
    for (auto& variable : flight_recorder_variables(facts.error_directory))
      facts.offered.push_back(std::move(variable));
  x_attempt = Attempt{order.attempt, make_attempt_world(x_own, order, x_rendezvous.address, facts), nullptr,
                      x_directory.attempt(order.attempt), x_directory.is_kept()};
  x_failure_reported = false;
  open_record(order);
  auto& world = x_attempt->world;
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
  x_attempt->node = ready.node;
  // The new holds are taken before the old ones are released, so that kept caches always have a holder.
  for (auto& cache : std::exchange(x_caches, std::move(ready.caches))) launch::release_cache(cache);
  for (unsigned local = 0; local < world.layout.local_world_size; ++local)
    if (const auto made = x_directory.make_rank(order.attempt, world.layout.rank + local); !made)
      return fail({k_cannot_set_up, "log", made.error(), {}, x_context.host}), false;
  return true;
}

/// A fresh store for the attempt's ranks, before the old one goes.
void AgentLoop::serve(const AgentCommand& order) {
  if (!prepare(order)) return;
  const auto& world = x_attempt->world;
  pid_t before = std::exchange(x_store, -1);
  AgentEvent event;
  event.kind = AgentEvent::Kind::serving;
  if (launch::needs_rendezvous(world, x_request.launch)) {
    const auto store = launch::serve_ranks(x_attempt->node, x_context, &x_activity);
    if (!store) {
      end_store(before);
      return fail({k_cannot_set_up, "store", store.error(), {}, x_context.host});
    }
    x_store = store->pid;
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

void AgentLoop::start(const AgentCommand& order) {
  x_all_good = false;
  if (!prepare(order)) return notify_ended(false); // the others' ranks are waited for, and none is here
  auto& node = *x_attempt->node;
  if (order.place.empty())
    node.env.unset(launch::k_store_variable);
  else
    node.env.set(launch::k_store_variable, order.place);
  AttemptStarted facts{order.attempt, x_attempt->world.layout.world_size, {}};
  for (unsigned i = 0; i < order.world.size(); ++i)
    facts.nodes.push_back({i, order.world[i].host, order.world[i].processes});
  note(facts);
  auto launch_request = x_request.launch;
  launch_request.output.directory = x_directory.is_kept() ? x_directory.attempt(order.attempt) : "";
  WorkerGroup overseer(
      x_request, x_context, *x_attempt, *x_rendezvous.link, x_record ? &*x_record : nullptr,
      x_store > 0 ? &x_activity : nullptr,
      [this](const AgentCommand& why, const auto& print_line) { report_stop(why, print_line); });
  launch::SupervisionOptions oversight{
      &overseer, x_mask, {}, x_directory.is_kept() ? "" : x_directory.path()};
  if (x_rendezvous.service) oversight.spared.push_back(*x_rendezvous.service);
  if (x_directory.watcher() > 0) oversight.spared.push_back(x_directory.watcher());
  if (x_watchdog) oversight.spared.push_back(x_watchdog->pid());
  launch::Outcome outcome;
  {
    launch::Supervisor ranks(launch_request, x_context, x_attempt->node, &oversight);
    if (x_store > 0) ranks.join_at(x_store);
    outcome = ranks.run();
    x_own_code = outcome.code;
    x_saving = x_saving || ranks.was_save_requested();
    x_all_good = ranks.all_succeeded();
    x_evidence = launch::find_world_evidence(x_attempt->node, x_request.launch, ranks);
    if (ranks.has_lost_store()) x_store = -1; // waited for: its number may be another's
    overseer.note_start_up(ranks);
  }
  if (overseer.signal != 0) x_signal = overseer.signal, x_leaving = Clock::now();
  if (overseer.end) return end(*overseer.end);
  if (overseer.line_lost) {
    x_end = x_signal != 0 ? outcome_of_signal(x_signal) : launch::Outcome{code_of_lost_line(), 0};
    return;
  }
  x_failure_reported = x_failure_reported || overseer.reported_failure;
  if (outcome.code != 0 && !outcome.stopped && !x_failure_reported && x_signal == 0)
    fail({outcome.code,
          "start",
          {fmt::format("the ranks of {} could not be started", x_context.host)},
          {},
          x_context.host});
  notify_ended(outcome.code == 0 && !outcome.stopped);
}

void AgentLoop::notify_ended(bool good) {
  AgentEvent event;
  event.kind = AgentEvent::Kind::ended;
  event.good = good;
  send_event(std::move(event));
}

void AgentLoop::report_stop(const AgentCommand& order, const MessageWriter& print_line) {
  if (!order.is_reporter) return;
  x_last_command = order;
  const unsigned ranks = x_attempt ? x_attempt->world.layout.world_size : 0;
  print_line(level_of_stop(order), util::join(render_stop(order, x_request.max_restarts, ranks), "\n"));
  if (order.failure) {
    note(FailureSeen{*order.failure, failures::find_hint(*order.failure)});
    if (const auto fault = failures::find_node_fault(*order.failure); !fault.empty())
      note_bad_node(order.failure->host, fmt::format("rank {} failed: {}", order.failure->rank, fault));
  }
  if (order.kind != AgentCommand::Kind::end && order.restarts_all) {
    RestartBegun begun{order.restarts,
                       x_request.max_restarts,
                       {},
                       order.reason,
                       std::chrono::duration<double>(order.pause).count()};
    if (order.failure && order.failure->of_launcher) begun.why = order.failure->message;
    if (order.failure && !order.failure->of_launcher) begun.cause_rank = order.failure->rank;
    note(begun);
  }
  const auto stalled = render_stalled(order);
  if (stalled.empty() || !x_attempt || !x_directory.is_kept()) return;
  const auto file = x_attempt->directory + "/stacks.txt";
  if (const auto written = util::write_file(file, stalled); !written)
    print_line(util::LogLevel::error, written.error().what);
  else
    print_line(util::LogLevel::info, fmt::format("wrote the stack traces of all ranks to '{}'\n"
                                                 "hint: check its first group of ranks: it is usually the "
                                                 "cause of the stall",
                                                 file));
}

void AgentLoop::end(const AgentCommand& order) {
  x_separate_worlds =
      order.code == 0 && x_evidence &&
      launch::report_separate_worlds(std::move(*x_evidence), x_store > 0 ? &x_activity : nullptr);
  // What was reported at the stop is not reported again.
  const bool was_commanded =
      x_last_command && x_last_command->kind != AgentCommand::Kind::end && !x_last_command->restarts_all;
  if (order.code != 0 && !was_commanded) report_stop(order, util::log_message);
  if (order.is_reporter && order.failure) {
    const auto& failed = *order.failure;
    const unsigned ranks = x_attempt ? x_attempt->world.layout.world_size : 0;
    const auto what = failures::render_failed_rank(failed, ranks);
    std::optional<RankLocation> location;
    if (!failed.of_launcher)
      location = {failed.rank, ranks, failed.host, static_cast<int>(failed.local_rank)};
    const auto written =
        launch::record_failure({order.code,
                                "run",
                                {failed.of_launcher ? fmt::format("{}: {}", what, failed.message) : what,
                                 failures::find_hint(failed)},
                                location,
                                failed.host},
                               x_context.env);
    if (!written) util::log_error(written.error());
  }
  const bool by_signal = order.code > 128 && !order.failure; // that some agent was sent
  if (by_signal) x_run_signal = order.code - 128;
  note_lost(order);
  x_failure_class = class_of_failure(order);
  const int signal = x_signal != 0 && order.code == 128 + x_signal ? x_signal : 0;
  x_end = by_signal ? outcome_of_signal(order.code - 128)
                    : launch::Outcome{x_separate_worlds ? k_cannot_set_up : order.code, signal};
}

/// Returns the class of what the run ended by; nothing if nothing failed.
std::optional<model::FailureClass> AgentLoop::class_of_failure(const AgentCommand& order) const {
  if (order.failure) return failures::class_of(*order.failure);
  if (!order.lost.empty()) return model::FailureClass::node;
  return x_separate_worlds ? std::optional(model::FailureClass::program) : std::nullopt;
}

/// After a signal the code is the programs' own, as without an agent: those that have saved what they had and
/// ended with 0 have ended well.
launch::Outcome AgentLoop::outcome_of_signal(int signal) const {
  if (x_all_good) return {0, 0};
  if (x_saving && x_own_code != 0) return {x_own_code, x_own_code == 128 + signal ? signal : 0};
  return {128 + signal, signal == x_signal ? signal : 0};
}

/// The run's record begins with the first attempt: only then all nodes are known.
void AgentLoop::open_record(const AgentCommand& order) {
  if (x_record || !x_directory.is_kept()) return;
  auto record = RunRecord::open(x_directory.path() + "/" + record_name(order.node_rank));
  if (!record) return util::log_error(record.error());
  x_record.emplace(std::move(*record));
  RunStarted facts;
  facts.run_id = x_run_id;
  facts.job = x_context.env.get_or("SLURM_JOB_ID", "");
  facts.step = x_context.env.get_or("SLURM_STEP_ID", "");
  facts.hpcml = HPCML_VERSION;
  facts.command = x_request.launch.command;
  facts.directory = x_directory.path();
  facts.host = x_context.host;
  facts.node = order.node_rank;
  for (const auto& node : order.world) facts.nodes.push_back(node.host);
  facts.max_restarts = x_request.max_restarts;
  facts.rendezvous_seconds = std::chrono::duration<double>(Clock::now() - x_rendezvous.begun).count();
  note(facts);
}

void AgentLoop::note(const RecordEvent& event) {
  if (!x_record) return;
  if (const auto added = x_record->add(event); !added) util::log_error(added.error());
}

/// Once for each node. The first node's agent reports it to the job's next start, unless any user may have
/// sent it.
void AgentLoop::note_bad_node(const std::string& node, const std::string& why) {
  if (x_own.channel.is_open && node != x_context.host) return;
  if (!x_rendezvous.leads || std::find(x_bad_nodes.begin(), x_bad_nodes.end(), node) != x_bad_nodes.end())
    return;
  x_bad_nodes.push_back(node);
  note(BadNodeSeen{{node, why}});
  launch::report_bad_node({node, why}, x_context.env);
}

void AgentLoop::note_lost(const AgentCommand& order) {
  for (const auto& host : order.lost) note_bad_node(host, "its agent was lost");
}

} // namespace hpcml::agent
