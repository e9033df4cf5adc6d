// SPDX-License-Identifier: MIT
#include "run/launch/rank_starter.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <span>
#include <unistd.h>

#include "run/launch/exec_rank.hpp"

namespace hpcml::launch {

namespace {

/// A rank that was started, or why it was not. With it come the reading ends of its output.
struct Started {
  pid_t pid = -1;
  bool no_pipe = false;
  int error = 0;
};
constexpr std::size_t k_pipe_ends = 2;

bool send_started(System& system, int line, const Started& started, std::span<const int> ends) {
  return system.send_descriptors(line, {reinterpret_cast<const char*>(&started), sizeof started}, ends);
}

/// False where nothing more comes.
bool receive_started(System& system, int line, Started& started, int (&ends)[k_pipe_ends]) {
  const int count =
      system.receive_descriptors(line, {reinterpret_cast<char*>(&started), sizeof started}, ends);
  if (count == 0 && started.error == 0)
    started = {started.pid, true, EMFILE}; // the kernel drops descriptors that exceed the limit
  return count >= 0;
}

/// In the rank: returns only if its program cannot be executed.
int run_rank(const RankStartContext& start, unsigned local_rank) {
  start.context.system->setrlimit(RLIMIT_NOFILE, start.files);
  RankSetup setup = make_rank_setup(start.request, start.node, local_rank);
  setup.env.set(k_launch_variable, start.mark);
  LaunchRequest request = start.request;
  request.command = command_of_rank(start.request, local_rank);
  return exec_rank(setup, request, start.context,
                   start.activity.empty() ? nullptr : start.activity[local_rank].get());
}

bool make_pipe(System& system, int (&ends)[2]) {
  return system.pipe(ends) == 0 && system.set_nonblocking(ends[0]) == 0;
}

/// Starts a child of our parent, so that launch and the rank are notified of each other's exit. Returns -1 if
/// it cannot be started.
pid_t fork_rank(const RankStartContext& start, unsigned local_rank, int out, int err) {
  const bool has_input = local_rank == 0 && start.input >= 0;
  util::ChildOptions options;
  options.is_sibling = true;
  options.group = util::ChildOptions::Group::own;
  options.death_signal = SIGKILL;
  options.descriptors = {{STDIN_FILENO, has_input ? start.input : util::ChildOptions::k_null_device},
                         {STDOUT_FILENO, out},
                         {STDERR_FILENO, err}};
  options.default_signals = {SIGPIPE};
  options.mask = start.mask;
  return start.context.system->fork(options, [&] { return run_rank(start, local_rank); });
}

/// Starts a rank and reports it; false if the next rank should not be started.
bool start_rank(const RankStartContext& start, unsigned local_rank, int line) {
  System& system = *start.context.system;
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  Started started;
  if (!make_pipe(system, out) || !make_pipe(system, err)) {
    started.no_pipe = true;
  } else {
    started.pid = fork_rank(start, local_rank, out[1], err[1]);
  }
  if (started.pid < 0) started.error = errno;
  const int ends[k_pipe_ends] = {out[0], err[0]};
  const bool is_announced =
      send_started(system, line, started, std::span(ends, started.pid > 0 ? k_pipe_ends : 0));
  if (!is_announced && started.pid > 0) system.kill(started.pid, SIGKILL); // launch would not know of it
  for (const int fd : {out[0], out[1], err[0], err[1]})
    if (fd >= 0) system.close(fd);
  return is_announced && started.pid > 0;
}

} // namespace

util::Status RankStarter::begin(const RankStartContext& start, unsigned count) {
  const auto& layout = start.node->world.layout;
  x_first_rank = layout.rank - layout.local_rank;
  int ends[2];
  const auto failed = [] {
    return util::Error{
        fmt::format("cannot start the process that starts the ranks: {}", std::strerror(errno)),
        "check the limits of open files (ulimit -n) and processes (ulimit -u) on this node"};
  };
  // Each message is one, and the end of its writer is seen.
  if (x_system.socketpair(ends) != 0) return failed();
  util::ChildOptions options;
  options.death_signal = SIGKILL;
  x_pid = x_system.fork(options, [&] { // launch waits for all of its children
    x_system.close(ends[0]);
    for (unsigned local = 0; local < count && start_rank(start, local, ends[1]);) ++local;
    return 0;
  });
  const int error = errno;
  x_system.close(ends[1]);
  x_line = ends[0];
  errno = error;
  if (x_pid < 0) return failed();
  return util::Success{};
}

util::Result<RankProcess> RankStarter::next() {
  Started started;
  int ends[k_pipe_ends] = {-1, -1};
  if (!receive_started(x_system, x_line, started, ends))
    return util::Error{"the process that starts the ranks exited unexpectedly",
                       "check dmesg for the kernel's out-of-memory killer, or request more memory (--mem)"};
  if (started.error != 0)
    return util::Error{started.no_pipe ? fmt::format("cannot create a pipe for the output of a rank: {}",
                                                     std::strerror(started.error))
                                       : fmt::format("cannot start a rank: {}", std::strerror(started.error)),
                       "check the limits of open files (ulimit -n) and processes (ulimit -u) on this node"};
  x_system.setpgid(started.pid, started.pid); // in both processes, so that it is set whichever runs first
  RankProcess process;
  process.rank = x_first_rank + x_local;
  process.local_rank = x_local++;
  process.pid = started.pid;
  process.out = ends[0];
  process.err = ends[1];
  return process;
}

void RankStarter::stop() {
  if (x_pid > 0) x_system.kill(x_pid, SIGKILL);
  if (x_line >= 0) x_system.close(x_line);
  x_line = -1;
}

RankStarter::~RankStarter() {
  if (x_line >= 0) x_system.close(x_line);
}

} // namespace hpcml::launch
