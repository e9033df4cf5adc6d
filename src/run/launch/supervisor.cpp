// SPDX-License-Identifier: MIT
#include "run/launch/supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/late_timer.hpp"
#include "core/util/process.hpp"
#include "core/util/signal_names.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/save_request.hpp"

namespace hpcml::launch {

namespace {

constexpr int k_watched[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,           SIGUSR2,
                             SIGCONT, SIGWINCH, SIGTSTP, SIGCHLD, k_save_word_signal};
/// A process that SIGKILL does not end in this time cannot be ended.
constexpr auto k_after_kill = std::chrono::seconds(2);

bool is_one_file(int a, int b) {
  struct stat first {
  }, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

} // namespace

Supervisor::Supervisor(const LaunchRequest& request, const RuntimeContext& context,
                       const std::shared_ptr<const NodeSetup>& node, const SupervisionOptions* oversight)
    : x_request(request), x_context(context),
      x_oversight(oversight), x_start_of_ranks{request, context, node},
      x_count(node->world.layout.local_world_size),
      x_out(STDOUT_FILENO, routes_to_output(is_one_file(STDOUT_FILENO, STDERR_FILENO)),
            [this](const std::string& loss) { print_line(util::LogLevel::warning, loss); }),
      x_groups(x_count) {
  if (!is_one_file(STDOUT_FILENO, STDERR_FILENO))
    x_err.emplace(STDERR_FILENO, routes_to_errors(context.stderr_is_terminal),
                  [this](const std::string& loss) { print_line(util::LogLevel::warning, loss); });
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int signal : k_watched) ::sigaddset(&watched, signal);
  ::sigprocmask(SIG_BLOCK, &watched, &x_mask_before);
  x_start_of_ranks.mask = oversight ? oversight->mask : x_mask_before;
  if (oversight) {
    for (const pid_t child : oversight->spared) x_groups.spare(child);
    x_groups.guard().remove_on_exit(oversight->directory);
    for (unsigned i = 0; i < x_count; ++i)
      x_start_of_ranks.activity.push_back(std::make_unique<store::StoreActivity>());
  }
  ::signal(SIGPIPE, SIG_IGN);
  // What loses its parent in a rank's group comes to us: its end is an event then, and it stays no zombie.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  x_signals = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

Supervisor::~Supervisor() {
  // Ranks that are started after these find the limit that we have found.
  if (x_raised_files) ::setrlimit(RLIMIT_NOFILE, &x_start_of_ranks.files);
  if (x_signals >= 0) ::close(x_signals);
  ::sigprocmask(SIG_SETMASK, &x_mask_before, nullptr);
}

void Supervisor::print_line(util::LogLevel level, const std::string& text) {
  errors().print_line(util::log_text(level, text));
}

void Supervisor::join_at(pid_t store) {
  x_store = store;
  x_groups.spare(store);
}

/// Raises the limit to two pipes for each rank, its files, and our own descriptors.
util::Status Supervisor::raise_file_limit() {
  auto& files = x_start_of_ranks.files;
  ::getrlimit(RLIMIT_NOFILE, &files);
  const rlim_t wanted = static_cast<rlim_t>(x_count) * 2 + file_count() + 128;
  if (files.rlim_cur >= wanted) return util::Success{};
  rlimit raised = files;
  raised.rlim_cur = std::min(wanted, files.rlim_max);
  if (raised.rlim_cur < wanted || ::setrlimit(RLIMIT_NOFILE, &raised) != 0)
    return util::Error{
        fmt::format("{} ranks require {} open files, which exceeds the hard limit ({}, ulimit -Hn)", x_count,
                    wanted, files.rlim_max),
        "use fewer ranks on this node, or request a higher limit"};
  x_raised_files = true;
  return util::Success{};
}

util::Status Supervisor::prepare() {
  if (x_signals < 0)
    return util::Error{fmt::format("hpcml launch cannot receive signals: {}", std::strerror(errno)),
                       "check the limit of open files (ulimit -n) on this node"};
  TRY_DONE(raise_file_limit());
  TRY_DONE(open_files());
  if (!x_oversight) x_memory = read_memory_levels();
  TRY_DONE(x_groups.guard().start());
  x_start_of_ranks.mark = x_groups.guard().mark();
  auto opened = x_input.open();
  x_start_of_ranks.input = x_input.rank_input();
  return opened;
}

util::Status Supervisor::take_started(const RankProcess& process) {
  x_groups.add(process);
  if (x_oversight) {
    x_oversight->overseer->started(process);
    x_oversight->overseer->keep_alive();
  }
  const auto out = x_out.add_source(process.local_rank, process.out);
  const auto err = x_err ? x_err->add_source(process.local_rank, process.err)
                         : x_out.add_source(x_count + process.local_rank, process.err);
  return out ? err : out;
}

util::Status Supervisor::start() {
  auto status = prepare();
  if (status) status = x_starter.begin(x_start_of_ranks, x_count);
  x_input.close_rank_end();
  for (unsigned local = 0; status && local < x_count; ++local) {
    const auto process = x_starter.next();
    status = process ? take_started(*process) : process.error();
  }
  return status;
}

/// Ends all ranks after a failed start, including unknown ones, and the processes that they started.
void Supervisor::end_start() {
  x_starter.stop();
  x_groups.kill_children(k_after_kill);
}

int Supervisor::wait_milliseconds() const {
  std::optional<Clock::time_point> next;
  const auto take = [&](const std::optional<Clock::time_point>& time) {
    if (time && (!next || *time < *next)) next = time;
  };
  take(x_stop_at);
  take(x_kill_at);
  take(x_give_up_at);
  take(x_drain_until);
  take(x_keep_alive_at);
  if (x_oversight && !x_finishing) take(x_oversight->overseer->due());
  take(x_out.flush_at());
  if (x_err) take(x_err->flush_at());
  if (!next) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*next - Clock::now()).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, 3600000));
}

void Supervisor::wait_once() {
  pollfd ends[] = {{x_signals, POLLIN, 0},
                   {x_out.write_fd(), POLLOUT, 0},
                   {x_err ? x_err->write_fd() : -1, POLLOUT, 0},
                   {x_out.read_fd(), POLLIN, 0},
                   {x_err ? x_err->read_fd() : -1, POLLIN, 0},
                   {x_input.read_fd(), POLLIN, 0},
                   {x_input.write_fd(), POLLOUT, 0},
                   {x_oversight ? x_oversight->overseer->fd() : -1, POLLIN, 0}};
  if (x_oversight && x_oversight->overseer->has_output()) ends[7].events |= POLLOUT;
  const int wait = wait_milliseconds();
  const auto until = Clock::now() + std::chrono::milliseconds(wait);
  if (::poll(ends, std::size(ends), wait) < 0) return;
  if (const auto now = Clock::now(); wait >= 0 && util::is_late(until, now)) restart_deadlines(now - until);
  if (ends[1].revents != 0) x_out.write_some();
  if (ends[2].revents != 0) x_err->write_some();
  if (ends[3].revents != 0) x_out.read_some();
  if (ends[4].revents != 0) x_err->read_some();
  look_at_worlds();
  if (ends[5].revents != 0) x_input.read_some();
  if (ends[6].revents != 0) x_input.write_some();
  if (ends[0].revents != 0) take_signals();
  x_out.flush_idle();
  if (x_err) x_err->flush_idle();
  if (x_oversight) {
    const auto due = x_oversight->overseer->due();
    if (ends[7].revents != 0 || (due && *due <= Clock::now())) query_observer();
  }
  kill_when_due();
}

/// This process was paused, and the ranks with it: what they have to do takes them as long as before.
void Supervisor::restart_deadlines(Clock::duration late) {
  for (auto* deadline : {&x_stop_at, &x_kill_at, &x_give_up_at, &x_drain_until})
    if (*deadline) **deadline += late;
}

void Supervisor::query_observer() {
  if (!x_oversight->overseer->look(*this) || x_stopped) return;
  x_stopped = true;
  if (!x_failed && x_ending == 0 && !x_saving) stop_others();
}

void Supervisor::kill_all() {
  if (x_ending != 0) {
    x_killed = true;
    print_line(util::LogLevel::warning,
               fmt::format("the ranks did not exit after {} and are killed\n"
                           "hint: set a longer --grace (torchrun: --shutdown-timeout) if they need more time",
                           util::signal_name(x_ending)));
  }
  kill();
}

void Supervisor::kill() {
  x_stop_at.reset();
  x_kill_at.reset();
  x_groups.signal(SIGKILL);
  x_give_up_at = Clock::now() + k_after_kill;
}

void Supervisor::reap() {
  const auto ended = x_groups.reap();
  await_signal_of_step(ended);
  take_end_of_store(); // before the ranks that failed because of it
  for (const auto index : ended) take_end_of_rank(index);
  for (const auto index : x_groups.take_ended_groups())
    if (x_groups.ranks()[index].open) take_failure(index);
}

/// Treats the end of the store as the failure of a rank: the ranks cannot connect any more, and may not know
/// it yet.
void Supervisor::take_end_of_store() {
  const auto status = x_groups.ended_spared(x_store);
  if (!status || !x_store_fault.empty() || x_failed || x_stopped || x_ending != 0) return;
  if (!x_groups.any_running()) return;
  x_store_fault = fmt::format("the process of the rendezvous store {}", util::describe_end(*status));
  if (x_oversight) x_oversight->overseer->on_store_lost(x_store_fault);
  x_stopped = true;
  stop_others();
}

void Supervisor::take_end_of_rank(std::size_t index) {
  auto& process = x_groups.ranks()[index];
  const bool good = process.status == 0;
  if (x_oversight && !good) take_last_lines(process.local_rank);
  if (x_oversight) x_oversight->overseer->ended(process, *this);
  // Processes left by a successful rank may continue. Others were signalled, and have the same grace
  // period as the rank.
  if (good && !x_failed && x_ending == 0 && !x_stopped) return;
  const bool waits = x_groups.wait_for_group(index);
  if (good || x_failed || x_stopped) return;
  // A shell ends at once by a signal that its program, of the same group, handles: nothing has failed yet.
  process.open = waits && ended_by_ours(process);
  if (!process.open) take_failure(index);
}

void Supervisor::take_failure(std::size_t index) {
  take_last_lines(x_groups.ranks()[index].local_rank);
  x_groups.ranks()[index].open = false;
  if (x_failed || x_stopped) return;
  x_failed = index;
  const bool by_ours = x_saving || ended_by_ours(x_groups.ranks()[index]);
  if (!x_oversight && !by_ours) look_for_memory(x_groups.ranks()[index]);
  if (x_oversight && x_ending == 0) {
    if (by_ours)
      x_oversight->overseer->on_stop_requested(x_received);
    else
      x_oversight->overseer->failed(x_groups.ranks()[index], *this);
  }
  if (x_ending != 0 || !x_groups.any_left()) return; // they have been asked to end already
  // All ranks received the signal that ended this one. They may be saving, and keep their time for it.
  if (x_saving) return; // the others keep the remaining time
  if (by_ours)
    x_stop_at = Clock::now() + grace_after_failure();
  else
    stop_others();
}

void Supervisor::stop_others() {
  x_stop_at.reset();
  x_groups.signal(SIGTERM);
  x_groups.signal(SIGCONT);
  if (!x_kill_at) x_kill_at = Clock::now() + grace_after_failure();
}

std::chrono::seconds Supervisor::grace_after_failure() const {
  return x_request.grace.value_or(k_grace_after_failure);
}

/// Returns whether the last forwarded signal ended the rank, directly or as the exit code of a shell.
bool Supervisor::ended_by_ours(const RankProcess& process) const {
  return x_received != 0 && util::exit_code_of_status(process.status) == 128 + x_received;
}

void Supervisor::kill_when_due() {
  const auto now = Clock::now();
  if (x_stop_at && now >= *x_stop_at) stop_others();
  if (x_kill_at && now >= *x_kill_at) kill_all();
  if (!x_give_up_at || now < *x_give_up_at) return;
  x_give_up_at.reset();
  for (const auto index : x_groups.give_up())
    if (x_groups.ranks()[index].open) take_failure(index);
}

Outcome Supervisor::run() {
  const auto started = start();
  if (!started) {
    end_start();
    x_failed.reset();
    finish();
    return {report_failure({k_cannot_set_up, "start", started.error(), {}, x_context.host}, x_context.env),
            0};
  }
  while (x_groups.any_left()) wait_once();
  // Processes in other sessions that have lost their parent are children of this process, a subreaper.
  if (x_failed || x_stopped) x_groups.kill_children(k_after_kill);
  return finish();
}

} // namespace hpcml::launch
