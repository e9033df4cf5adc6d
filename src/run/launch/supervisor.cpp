// SPDX-License-Identifier: MIT
#include "run/launch/supervisor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/late_timer.hpp"
#include "core/util/signal_names.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/save_request.hpp"
#include "run/launch/signal_targets.hpp"

namespace hpcml::launch {

namespace {

/// While ranks have a deadline, a pause of this process is noticed this early: a wait for the deadline itself
/// ends with it, however much time was left.
constexpr auto k_pause_check = std::chrono::seconds(1);

} // namespace

Supervisor::Supervisor(const LaunchRequest& request, const RuntimeContext& context,
                       const std::shared_ptr<const NodeSetup>& node, const SupervisionOptions* oversight)
    : x_system(*context.system), x_oversight(oversight), x_start{request, context, node},
      x_output(request, context, node), x_groups(*context.system, layout().local_world_size),
      x_policy(make_stop_options(request, context.env, oversight != nullptr)),
      x_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGTSTP, SIGCHLD,
                 k_save_word_signal},
                *context.system),
      x_file_limit(*context.system) {
  x_start.mask = oversight ? oversight->mask : x_signals.mask_before();
  if (oversight) {
    for (const pid_t child : oversight->spared) x_groups.spare(child);
    x_groups.guard().remove_on_exit(oversight->directory);
    for (unsigned i = 0; i < layout().local_world_size; ++i)
      x_start.activity.push_back(std::make_unique<store::SharedStoreActivity>());
  }
  x_system.set_action(SIGPIPE, SIG_IGN);
  // What loses its parent in a rank's group comes to us: its end is an event then, and it stays no zombie.
  x_system.become_subreaper();
}

void Supervisor::join_at(pid_t store) {
  x_store.pid = store;
  x_groups.spare(store);
}

util::Status Supervisor::prepare() {
  if (x_signals.fd() < 0)
    return util::Error{fmt::format("hpcml launch cannot receive signals: {}", std::strerror(errno)),
                       "check the limit of open files (ulimit -n) on this node"};
  const unsigned count = layout().local_world_size;
  x_start.files = x_file_limit.before();
  // Two pipes for each rank, its files, and our own descriptors.
  TRY_DONE(x_file_limit.raise(static_cast<rlim_t>(count) * 2 + x_output.file_count() + 128, count));
  TRY_DONE(x_output.open_files());
  if (!x_oversight) x_memory.before = read_memory_levels("/", x_system);
  TRY_DONE(x_groups.guard().start());
  x_start.mark = x_groups.guard().mark();
  auto opened = x_output.open_input();
  x_start.input = x_output.rank_input();
  return opened;
}

util::Status Supervisor::take_started(const RankProcess& process) {
  x_groups.add(process);
  if (auto* overseer = observer()) {
    overseer->started(process);
    overseer->keep_alive();
  }
  return x_output.add_rank(process);
}

util::Status Supervisor::start() {
  const unsigned count = layout().local_world_size;
  RankStarter starter(x_system);
  auto status = prepare();
  if (status) status = starter.begin(x_start, count);
  x_output.close_rank_input();
  for (unsigned local = 0; status && local < count; ++local) {
    const auto process = starter.next();
    status = process ? take_started(*process) : process.error();
  }
  if (status) return status;
  // Ends all ranks, including unknown ones, and the processes that they started.
  starter.stop();
  x_groups.kill_children(k_after_kill);
  return status;
}

int Supervisor::wait_milliseconds(std::optional<Clock::time_point> next) const {
  const auto add = [&](const std::optional<Clock::time_point>& time) {
    if (time && (!next || *time < *next)) next = time;
  };
  if (const auto deadline = x_policy.next_deadline())
    add(std::min(*deadline, x_system.now() + k_pause_check));
  add(x_output.flush_at());
  if (!next) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*next - x_system.now()).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, 3600000));
}

void Supervisor::wait_once() {
  constexpr std::size_t k_signals = OutputRelay::k_polled, k_observer = k_signals + 1;
  std::array<pollfd, k_observer + 1> ends;
  const auto streams = std::span(ends).first<OutputRelay::k_polled>();
  x_output.watch(streams);
  ends[k_signals] = {x_signals.fd(), POLLIN, 0};
  ends[k_observer] = {x_oversight ? observer()->fd() : -1, POLLIN, 0};
  if (x_oversight && observer()->has_output()) ends[k_observer].events = POLLIN | POLLOUT;
  const int wait = wait_milliseconds(x_oversight ? observer()->due() : std::nullopt);
  const auto until = x_system.now() + std::chrono::milliseconds(wait);
  if (x_system.poll(ends, wait) < 0) return;
  if (const auto now = x_system.now(); wait >= 0 && util::is_late(until, now))
    x_policy.on_suspended(now - until);
  x_output.handle(streams);
  if (ends[k_signals].revents != 0) read_signals();
  x_output.flush_idle();
  if (x_oversight) {
    const auto due = observer()->due();
    if (ends[k_observer].revents != 0 || (due && *due <= x_system.now())) query_observer();
  }
  perform(x_policy.on_time(x_system.now()));
}

void Supervisor::query_observer() {
  if (observer()->look(*this)) perform(x_policy.on_observer_stop(x_system.now()));
}

void Supervisor::kill() { perform(x_policy.on_kill(x_system.now())); }

void Supervisor::read_signals() {
  bool ended = false;
  while (const int signal = x_signals.next()) {
    if (signal == SIGCHLD)
      ended = true;
    else
      perform(x_policy.on_signal(signal, signal == SIGQUIT && x_system.isatty(STDIN_FILENO), x_system.now()));
  }
  if (ended && !x_policy.is_draining()) reap();
}

void Supervisor::reap() {
  const auto ended = x_groups.reap();
  await_signal_of_step(ended);
  take_end_of_store(); // before the ranks that failed because of it
  for (const auto index : ended) take_end_of_rank(index);
  for (const auto index : x_groups.take_ended_groups())
    perform(x_policy.on_group_ended(index, x_groups.any_left(), x_system.now()));
}

/// Slurm signals the processes of a task one after the other. A rank may end by TERM before this process gets
/// it, and has not failed then: srun ends the step, or Slurm the job.
void Supervisor::await_signal_of_step(const std::vector<std::size_t>& ended) {
  if (std::none_of(ended.begin(), ended.end(), [&](std::size_t index) {
        return x_policy.may_precede_signal(x_groups.ranks()[index].status);
      }))
    return;
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  if (x_system.sigtimedwait(term, k_same_request) == SIGTERM)
    perform(x_policy.on_signal(SIGTERM, false, x_system.now()));
}

void Supervisor::take_end_of_store() {
  const auto status = x_groups.ended_spared(x_store.pid);
  if (!status || !x_groups.any_running()) return;
  x_store.fault = fmt::format("the process of the rendezvous store {}", util::describe_end(*status));
  perform(x_policy.on_store_lost(x_system.now()));
}

void Supervisor::take_end_of_rank(std::size_t index) {
  const auto& process = x_groups.ranks()[index];
  if (x_oversight) {
    if (process.status != 0) x_output.read_last_lines(process.local_rank);
    observer()->ended(process, *this);
  }
  const bool has_others = x_policy.waits_for_group(process.status) && x_groups.wait_for_group(index);
  perform(x_policy.on_rank_ended(index, process.status, has_others, x_groups.any_left(), x_system.now()));
}

void Supervisor::perform(const StopActions& actions) {
  for (const auto& action : actions) perform(action);
}

void Supervisor::perform(const StopAction& action) {
  using Kind = StopAction::Kind;
  switch (action.kind) {
  case Kind::signal_ranks: return x_groups.signal(action.signal);
  case Kind::request_save: return request_save(action.signal);
  case Kind::suspend: x_system.kill(x_system.getpid(), SIGSTOP); return;
  case Kind::buffer_output: return x_output.buffer_output();
  case Kind::read_last_lines: return x_output.read_last_lines(x_groups.ranks()[action.rank].local_rank);
  case Kind::check_memory: return check_memory(x_groups.ranks()[action.rank]);
  case Kind::report_kill: return report_kill(action.signal);
  case Kind::give_up_groups: return give_up_groups();
  case Kind::notify_request:
  case Kind::notify_failure:
  case Kind::notify_store_lost: break;
  }
  if (x_oversight) notify(action);
}

void Supervisor::notify(const StopAction& action) {
  using Kind = StopAction::Kind;
  if (action.kind == Kind::notify_request) observer()->on_stop_requested(action.signal);
  if (action.kind == Kind::notify_failure) observer()->failed(x_groups.ranks()[action.rank], *this);
  if (action.kind == Kind::notify_store_lost) observer()->on_store_lost(x_store.fault);
}

/// Each rank's processes that handle the signal get it; ranks without any are reported in one line.
void Supervisor::request_save(int signal) {
  const ProcessTable table(x_system);
  std::vector<unsigned> unhandled;
  const auto roots = table.children(x_system.getpid());
  for (const auto& rank : x_groups.ranks()) {
    if (!rank.running && !rank.lingers) continue;
    // What has lost its parent is a child of this process now, and still of the rank's group.
    std::vector<ProcessSignalState> own;
    std::copy_if(roots.begin(), roots.end(), std::back_inserter(own),
                 [&](const auto& root) { return root.pid == rank.pid || root.group == rank.pid; });
    const auto tree = table.trees(own, signal);
    const auto targets = choose_targets(tree);
    send_to_targets(x_system, targets, signal);
    if (targets.empty() && !tree.empty()) unhandled.push_back(rank.rank);
  }
  if (!unhandled.empty())
    print_line(util::LogLevel::warning,
               describe_unhandled(unhandled, layout().world_size, x_start.context.host, signal));
}

void Supervisor::check_memory(const RankProcess& process) {
  if (!x_oversight && WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGKILL)
    x_memory.fault = find_out_of_memory(x_memory.before, read_memory_levels("/", x_system));
}

void Supervisor::report_kill(int signal) {
  print_line(util::LogLevel::warning,
             fmt::format("the ranks did not exit after {} and are killed\n"
                         "hint: set a longer --grace (torchrun: --shutdown-timeout) if they need more time",
                         util::signal_name(signal)));
}

void Supervisor::give_up_groups() {
  for (const auto index : x_groups.give_up())
    perform(x_policy.on_group_ended(index, x_groups.any_left(), x_system.now()));
}

LaunchOutcome Supervisor::run() {
  const auto started = start();
  if (!started) {
    finish();
    return {report_failure({k_cannot_set_up, "start", started.error(), {}, x_start.context.host},
                           x_start.context.env, x_system),
            0};
  }
  while (x_groups.any_left()) wait_once();
  // Processes in other sessions that have lost their parent are children of this process, a subreaper.
  if (x_policy.ends_descendants()) x_groups.kill_children(k_after_kill);
  return finish();
}

} // namespace hpcml::launch
