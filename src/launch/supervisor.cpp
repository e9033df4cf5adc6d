// SPDX-License-Identifier: MIT
#include "launch/supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/failure.hpp"
#include "util/process.hpp"

namespace hpcml::launch {

namespace {

constexpr int k_forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
constexpr auto k_idle =
    std::chrono::milliseconds(200); ///< an unfinished line that stands still for so long is shown
/// The same request may come twice: timeout signals a process and then its group, a shell passes on what the
/// terminal sent all.
constexpr auto k_same_request = std::chrono::milliseconds(250);

/// How long the ranks may take after INT or TERM. In a job Slurm kills what is left when its own time comes,
/// and a job that asked for an early signal (--signal, preemption) needs that time for its checkpoint.
std::optional<std::chrono::seconds> grace_after_signal(const LaunchRequest& request,
                                                       const Surroundings& here) {
  if (request.grace || here.env.get_or("SLURM_JOB_ID", "").empty())
    return request.grace.value_or(k_grace_after_signal);
  return std::nullopt;
}

bool is_foreground_terminal(int fd) { return ::isatty(fd) != 0 && ::tcgetpgrp(fd) == ::getpgrp(); }

} // namespace

Supervisor::Supervisor(const LaunchRequest& request, const Surroundings& here,
                       const std::vector<unsigned>& ranks)
    : x_request(request), x_here(here),
      x_out_lines(ranks, here.stdout_is_terminal && here.env.get_or("NO_COLOR", "").empty()),
      x_err_lines(ranks, here.stderr_is_terminal && here.env.get_or("NO_COLOR", "").empty()) {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int signal : k_forwarded) ::sigaddset(&watched, signal);
  ::sigaddset(&watched, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &watched, &x_old_mask);
  ::signal(SIGPIPE, SIG_IGN);
  x_signals = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

Supervisor::~Supervisor() {
  if (x_signals >= 0) ::close(x_signals);
  if (x_input >= 0) ::close(x_input);
}

util::Status Supervisor::start(std::vector<RankSetup>& setups) {
  if (x_signals < 0) return util::Error{std::string("cannot watch for signals: ") + std::strerror(errno)};
  int input[2] = {STDIN_FILENO, -1};
  // Ranks have process groups of their own and may not read a terminal; whatever else stands there is simply
  // handed on.
  const bool relay = ::isatty(STDIN_FILENO) != 0;
  if (relay && ::pipe2(input, O_CLOEXEC) != 0)
    return util::Error{std::string("cannot make a pipe: ") + std::strerror(errno)};
  util::Status status = util::Done{};
  for (auto& setup : setups) {
    auto process =
        start_rank(setup, x_request, x_here, x_old_mask, setup.world.layout.local_rank == 0 ? input[0] : -1);
    if (!process) {
      status = process.error();
      break;
    }
    x_processes.push_back(*process);
  }
  if (relay) {
    ::close(input[0]);
    x_input = input[1];
  }
  return status;
}

bool Supervisor::any_running() const {
  return std::any_of(x_processes.begin(), x_processes.end(),
                     [](const auto& process) { return process.running; });
}

int Supervisor::wait_milliseconds() const {
  std::optional<Clock::time_point> next = x_kill_at;
  if (x_flush_at && (!next || *x_flush_at < *next)) next = x_flush_at;
  if (!next) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*next - Clock::now()).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, 3600000));
}

void Supervisor::wait_once() {
  std::vector<pollfd> ends = {
      {x_signals, POLLIN, 0},
      {x_out.empty() ? -1 : x_out.fd(), POLLOUT, 0},
      {x_err.empty() ? -1 : x_err.fd(), POLLOUT, 0},
      {x_input >= 0 && is_foreground_terminal(STDIN_FILENO) ? STDIN_FILENO : -1, POLLIN, 0}};
  const std::size_t first = ends.size();
  for (const auto& process : x_processes) {
    ends.push_back({x_out.full() ? -1 : process.out, POLLIN, 0});
    ends.push_back({x_err.full() ? -1 : process.err, POLLIN, 0});
  }
  if (::poll(ends.data(), ends.size(), wait_milliseconds()) < 0) return;
  if (ends[1].revents != 0) x_out.write_some();
  if (ends[2].revents != 0) x_err.write_some();
  if (ends[3].revents != 0) relay_input();
  for (std::size_t i = 0; i < x_processes.size(); ++i) {
    if (ends[first + 2 * i].revents != 0) read_output(i, false);
    if (ends[first + 2 * i + 1].revents != 0) read_output(i, true);
  }
  if (ends[0].revents != 0) take_signals();
  flush_idle();
  kill_when_due();
}

void Supervisor::read_output(std::size_t index, bool error_stream) {
  int& fd = error_stream ? x_processes[index].err : x_processes[index].out;
  auto& lines = error_stream ? x_err_lines : x_out_lines;
  auto& queue = error_stream ? x_err : x_out;
  if (fd < 0) return;
  char buffer[65536];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count > 0) {
    queue.add(lines.add(index, {buffer, static_cast<std::size_t>(count)}));
    if (lines.has_pending(index)) x_flush_at = Clock::now() + k_idle;
  }
  if (count > 0 && !queue.broken()) return;
  // At the end, or nobody reads us any more: then the rank's own writes have to fail as they would without
  // us.
  queue.add(lines.finish(index));
  ::close(fd);
  fd = -1;
}

void Supervisor::flush_idle() {
  if (!x_flush_at || Clock::now() < *x_flush_at) return;
  x_flush_at.reset();
  for (std::size_t i = 0; i < x_processes.size(); ++i) {
    x_out.add(x_out_lines.flush(i));
    x_err.add(x_err_lines.flush(i));
  }
}

void Supervisor::take_signals() {
  signalfd_siginfo info{};
  while (::read(x_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) {
      // Several deaths can share one signal; the one it tells of was the first.
      for (auto& process : x_processes)
        if (process.pid == static_cast<pid_t>(info.ssi_pid)) reap_one(process);
      reap();
      continue;
    }
    if (signal == SIGINT || signal == SIGTERM) {
      take_request_to_end(signal);
      continue;
    }
    if (signal != SIGCONT && signal != SIGWINCH) x_received = signal;
    for (const auto& process : x_processes)
      if (process.running) ::kill(process.pid, signal);
  }
}

void Supervisor::take_request_to_end(int signal) {
  if (x_ending != 0) {
    if (Clock::now() - x_asked > k_same_request) kill_all();
    return;
  }
  x_received = x_ending = signal;
  x_asked = Clock::now();
  for (const auto& process : x_processes)
    if (process.running) ::kill(process.pid, signal);
  if (const auto limit = grace_after_signal(x_request, x_here)) x_kill_at = x_asked + *limit;
}

void Supervisor::kill_all() {
  x_kill_at.reset();
  if (x_ending != 0) {
    x_killed = true;
    narrate("hpcml launch: the ranks did not end after " + signal_name(x_ending) + " and are killed");
  }
  for (const auto& process : x_processes)
    if (process.running) ::kill(-process.pid, SIGKILL);
}

void Supervisor::reap() {
  for (auto& process : x_processes) reap_one(process);
}

void Supervisor::reap_one(RankProcess& process) {
  if (!process.running) return;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(process.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return;
  const bool good = info.si_code == CLD_EXITED && info.si_status == 0;
  // Before it is reaped: as long as the rank is a zombie its group's number can't belong to somebody else.
  if (!good || x_failed || x_ending != 0) ::kill(-process.pid, SIGKILL);
  ::waitpid(process.pid, &process.status, 0);
  process.running = false;
  process.end = Clock::now();
  if (good || x_failed) return;
  x_failed = static_cast<std::size_t>(&process - x_processes.data());
  stop_others(process);
}

void Supervisor::stop_others(const RankProcess& failed) {
  bool others = false;
  for (const auto& process : x_processes) {
    if (!process.running || process.pid == failed.pid) continue;
    ::kill(process.pid, SIGTERM);
    ::kill(process.pid, SIGCONT);
    others = true;
  }
  if (others && !x_kill_at) x_kill_at = Clock::now() + x_request.grace.value_or(k_grace_after_failure);
}

void Supervisor::kill_when_due() {
  if (!x_kill_at || Clock::now() < *x_kill_at) return;
  kill_all();
}

void Supervisor::relay_input() {
  char buffer[4096];
  const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
  const bool sent = count > 0 && ::write(x_input, buffer, static_cast<std::size_t>(count)) == count;
  if (sent || (count < 0 && errno == EINTR)) return;
  ::close(x_input);
  x_input = -1;
}

void Supervisor::finish() {
  for (std::size_t i = 0; i < x_processes.size(); ++i)
    for (const bool error_stream : {false, true}) {
      int& fd = error_stream ? x_processes[i].err : x_processes[i].out;
      // A process that a rank left behind may hold the pipe: what is there is taken, nothing is waited for.
      for (pollfd ready{fd, POLLIN, 0}; fd >= 0 && ::poll(&ready, 1, 0) > 0; ready.fd = fd) {
        read_output(i, error_stream);
        if ((error_stream ? x_err : x_out).full()) (error_stream ? x_err : x_out).drain();
      }
      (error_stream ? x_err : x_out).add((error_stream ? x_err_lines : x_out_lines).finish(i));
      if (fd >= 0) ::close(fd);
      fd = -1;
    }
  x_out.drain();
  x_err.drain();
}

std::string Supervisor::describe_failure() const {
  const auto& process = x_processes[*x_failed];
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f",
                std::chrono::duration<double>(process.end - x_start).count());
  std::string text = "rank " + std::to_string(process.rank) + " (local " +
                     std::to_string(process.local_rank) + " on host " + x_here.host + ") " +
                     describe_end(process.status) + " after " + seconds + " s";
  if (x_killed && WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGKILL)
    return text + ": it had not ended after " + signal_name(x_ending);
  if (x_received != 0 && WIFSIGNALED(process.status) && WTERMSIG(process.status) == x_received)
    return text + ", the signal that hpcml launch was sent";
  if (x_processes.size() > 1) text += "; the others were stopped";
  return text;
}

int Supervisor::run(std::vector<RankSetup>& setups) {
  const auto started = start(setups);
  if (!started) {
    for (const auto& process : x_processes) ::kill(-process.pid, SIGKILL);
    while (any_running()) wait_once();
    finish();
    return report_failure({k_cannot_set_up, "start", started.error(), {}, x_here.host}, x_here.env);
  }
  while (any_running()) wait_once();
  finish();
  if (!x_failed) return 0;
  const auto& process = x_processes[*x_failed];
  // Our own KILL is not what ended the ranks: the signal that launch was sent is.
  const bool ours = x_killed && WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGKILL;
  const Failure failure{ours ? 128 + x_ending : util::exit_code_of_status(process.status),
                        "run",
                        {describe_failure()},
                        process.rank,
                        x_here.host};
  if (x_here.env.get_or("HPCML_ERROR_DIR", "").empty()) {
    narrate("hpcml launch: " + failure.error.what);
    return failure.exit_code;
  }
  return report_failure(failure, x_here.env);
}

} // namespace hpcml::launch
