// SPDX-License-Identifier: MIT
#include "agent/agent_loop.hpp"

#include <algorithm>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/attempt_world.hpp"
#include "agent/stop_words.hpp"
#include "launch/failure.hpp"
#include "launch/meet.hpp"
#include "launch/rendezvous.hpp"
#include "launch/report.hpp"
#include "store/client.hpp"
#include "util/process.hpp"

namespace hpcml::agent {

namespace {

using Clock = std::chrono::steady_clock;

/// Once this agent was asked to end, the conductor has so long to say that all others do, too.
constexpr auto k_farewell = std::chrono::seconds(5);

/// Signals that ask an agent to end; it hears them when it looks.
sigset_t end_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, signal);
  return set;
}

} // namespace

AgentLoop::AgentLoop(const AgentRequest& request, const launch::Surroundings& here, launch::World own,
                     AgentsMeeting met, RunFolder folder, std::string run_id, const sigset_t& mask)
    : x_request(request), x_here(here), x_own(std::move(own)), x_met(std::move(met)),
      x_folder(std::move(folder)), x_run_id(std::move(run_id)), x_mask(mask) {
  const auto signals = end_signals();
  x_signals = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

AgentLoop::~AgentLoop() {
  end_store(x_store);
  for (auto& cache : x_caches) launch::release_cache(cache);
  if (x_signals >= 0) ::close(x_signals);
}

launch::Outcome AgentLoop::run() {
  while (!x_end) wait_for_order();
  return *x_end;
}

/// Between attempts. Signals that come meanwhile are told as those that come to ranks.
void AgentLoop::wait_for_order() {
  if (auto order = x_met.link->take()) return obey(*order);
  if (const auto fault = x_met.link->fault(); !fault.empty()) {
    launch::narrate("hpcml agent: " + fault);
    x_end = launch::Outcome{x_signal != 0 ? 128 + x_signal : k_cannot_set_up, x_signal};
    return;
  }
  pollfd ends[] = {{x_met.link->fd(), static_cast<short>(POLLIN | (wants_to_write() ? POLLOUT : 0)), 0},
                   {x_signals, POLLIN, 0}};
  auto until = x_met.link->due();
  const auto farewell = x_started + k_farewell;
  if (x_signal != 0 && (!until || farewell < *until)) until = farewell;
  int wait = -1;
  if (until)
    wait = static_cast<int>(std::clamp<long long>(
        std::chrono::duration_cast<std::chrono::milliseconds>(*until - Clock::now()).count() + 1, 0, 60000));
  if (::poll(ends, 2, wait) > 0 && ends[1].revents != 0) {
    signalfd_siginfo info{};
    while (::read(x_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (x_signal == 0) asked_to_end(static_cast<int>(info.ssi_signo));
  }
  if (x_signal != 0 && Clock::now() >= farewell && !x_end) x_end = launch::Outcome{128 + x_signal, x_signal};
}

void AgentLoop::obey(const Order& order) {
  switch (order.kind) {
  case Order::Kind::serve: return serve(order);
  case Order::Kind::start: return start(order);
  case Order::Kind::stop: return take_stop(order);
  case Order::Kind::end: return end(order);
  case Order::Kind::look: return; // nothing runs here
  }
}

void AgentLoop::tell(Event event) {
  event.attempt = x_attempt ? x_attempt->number : 0;
  x_met.link->tell(event);
}

/// What this agent cannot do is a failure of its first rank: the run has one first failure, whoever's.
void AgentLoop::fail(const launch::Failure& failure) {
  Event event;
  event.kind = Event::Kind::failed;
  event.failure.rank = x_attempt ? x_attempt->world.layout.rank : 0;
  event.failure.host = x_here.host;
  event.failure.status = failure.exit_code << 8;
  event.failure.message = failure.error.what;
  launch::narrate(launch::describe(failure));
  x_told_failure = true;
  tell(std::move(event));
}

/// Plans this node for an attempt, once; false where that failed and was told.
bool AgentLoop::prepare(const Order& order) {
  if (x_attempt && x_attempt->number == order.attempt && x_attempt->node) return true;
  launch::AgentFacts facts{order.restarts, x_request.max_restarts, x_run_id, x_request.role,
                           x_folder.attempt(order.attempt)};
  x_attempt = Attempt{order.attempt, make_attempt_world(x_own, order, x_met.address, facts), nullptr};
  x_told_failure = x_quiet = false;
  x_stop.reset();
  auto& world = x_attempt->world;
  world.agent->serial = order.attempt;
  if (world.layout.node_count() == 1 && x_own.layout.node_count() > 1 && x_met.address.empty()) {
    const auto port = launch::free_loopback_port();
    world.address = "127.0.0.1";
    if (port && !world.port_given) world.port = *port;
  }
  auto prepared = launch::prepare_ranks(x_request.launch, x_here, world);
  if (const auto* failure = std::get_if<launch::Failure>(&prepared)) return fail(*failure), false;
  auto& ready = std::get<launch::PreparedRanks>(prepared);
  x_attempt->node = ready.node;
  for (auto& cache : ready.caches) x_caches.push_back(cache);
  for (unsigned local = 0; local < world.layout.local_world_size; ++local)
    if (const auto made = x_folder.make_rank(order.attempt, world.layout.rank + local); !made)
      return fail({k_cannot_set_up, "log", made.error(), {}, x_here.host}), false;
  return true;
}

/// A fresh store for the attempt's ranks, before the old one goes.
void AgentLoop::serve(const Order& order) {
  if (!prepare(order)) return;
  const auto& world = x_attempt->world;
  pid_t before = std::exchange(x_store, -1);
  Event event;
  event.kind = Event::Kind::serving;
  if (launch::is_to_meet(world, x_request.launch)) {
    const auto store = launch::serve_ranks(x_attempt->node, x_request.launch, x_here);
    if (!store) {
      end_store(before);
      return fail({k_cannot_set_up, "store", store.error(), {}, x_here.host});
    }
    x_store = store->pid;
    event.place = store::place_text(world.address, store->port);
  }
  end_store(before);
  tell(std::move(event));
}

void AgentLoop::end_store(pid_t& store) {
  if (store <= 0) return;
  ::kill(store, SIGKILL);
  ::waitpid(store, nullptr, 0);
  store = -1;
}

void AgentLoop::start(const Order& order) {
  if (!prepare(order)) return;
  auto& node = *x_attempt->node;
  if (order.place.empty())
    node.env.unset(launch::k_store_variable);
  else
    node.env.set(launch::k_store_variable, order.place);
  auto asked = x_request.launch;
  if (x_folder.is_kept()) asked.output.folder = x_folder.attempt(order.attempt);
  launch::Oversight oversight{this, x_mask, {}};
  if (x_store > 0) oversight.spared.push_back(x_store);
  if (x_met.service) oversight.spared.push_back(*x_met.service);
  x_started = Clock::now();
  launch::Outcome outcome;
  {
    launch::Supervisor ranks(asked, x_here, x_attempt->node, &oversight);
    outcome = ranks.run();
  }
  x_started = Clock::now();
  if (x_end) return; // the conductor has gone meanwhile
  if (outcome.code != 0 && !outcome.stopped && !x_told_failure && x_signal == 0)
    fail({outcome.code, "start", {"the ranks of this node could not be started"}, {}, x_here.host});
  Event event;
  event.kind = Event::Kind::ended;
  event.good = outcome.code == 0 && !outcome.stopped;
  tell(std::move(event));
}

std::optional<launch::Overseer::Time> AgentLoop::due() const {
  auto next = x_met.link->due();
  if (x_request.stall_timeout) {
    const auto look = Clock::now() + std::chrono::seconds(1);
    if (!next || look < *next) next = look;
  }
  return next;
}

bool AgentLoop::look(const launch::Supervisor& ranks) {
  bool stop = x_stop.has_value();
  while (!x_end) {
    const auto order = x_met.link->take();
    if (!order) break;
    if (order->kind == Order::Kind::end)
      end(*order);
    else if (order->kind == Order::Kind::stop)
      take_stop(*order);
    stop = stop || order->kind == Order::Kind::end || order->kind == Order::Kind::stop;
  }
  if (!x_end && !x_met.link->fault().empty()) {
    launch::narrate("hpcml agent: " + x_met.link->fault() + ": the ranks of " + x_here.host + " are stopped");
    x_end = launch::Outcome{x_signal != 0 ? 128 + x_signal : k_cannot_set_up, x_signal};
    stop = true;
  }
  if (!stop) watch_for_stall(ranks);
  return stop;
}

void AgentLoop::watch_for_stall(const launch::Supervisor&) {}

void AgentLoop::failed(const launch::RankProcess& process, const launch::Supervisor&) {
  Event event;
  event.kind = Event::Kind::failed;
  auto& note = event.failure;
  note.attempt = x_attempt->number;
  note.rank = process.rank;
  note.local_rank = process.local_rank;
  note.host = x_here.host;
  note.pid = process.pid;
  note.status = process.status;
  note.seconds = std::chrono::duration<double>(process.end - x_started).count();
  note.gpu =
      launch::gpus_of_rank(launch::make_rank_setup(x_request.launch, x_attempt->node, process.local_rank));
  x_told_failure = true;
  tell(std::move(event));
}

void AgentLoop::asked_to_end(int signal) {
  if (x_signal != 0) return;
  x_signal = signal;
  x_started = Clock::now();
  Event event;
  event.kind = Event::Kind::leaving;
  event.signal = signal;
  tell(std::move(event));
}

void AgentLoop::take_stop(const Order& order) {
  if (x_stop && x_stop->attempt == order.attempt) return;
  x_stop = order;
  if (order.says) launch::narrate(render_stop(order, x_request.max_restarts));
}

void AgentLoop::end(const Order& order) {
  // What was said at the stop is not said again.
  const bool said = x_stop && x_stop->code == order.code && !x_stop->restarts_all;
  if (order.says && order.code != 0 && !said) launch::narrate(render_stop(order, x_request.max_restarts));
  if (order.says && order.failure && !x_here.env.get_or("HPCML_ERROR_DIR", "").empty()) {
    const auto& note = *order.failure;
    const auto more = launch::record_failure(
        {order.code, "run", {describe_failure(note)}, note.rank, note.host}, x_here.env);
    if (!more.empty()) launch::narrate(more);
  }
  x_end = launch::Outcome{order.code, x_signal != 0 && order.code == 128 + x_signal ? x_signal : 0};
}

} // namespace hpcml::agent
