// SPDX-License-Identifier: MIT
#include "launch/rank_process.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/become_rank.hpp"

namespace hpcml::launch {

namespace {

/// In the child: never returns.
[[noreturn]] void run_child(const RankStart& start, unsigned local_rank, int input, int out, int err,
                            pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(k_cannot_set_up); // it died before the kernel knew what we want
  const int nothing = input < 0 ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
  if (input != STDIN_FILENO) ::dup2(input < 0 ? nothing : input, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::setrlimit(RLIMIT_NOFILE, &start.files);
  ::sigprocmask(SIG_SETMASK, &start.mask, nullptr);
  RankSetup setup = make_rank_setup(start.request, start.node, local_rank);
  add_caches(setup, start.cache_paths);
  setup.env.set(k_launch_variable, start.mark);
  ::_exit(become_rank(setup, start.request, start.here));
}

bool make_pipe(int ends[2]) {
  return ::pipe2(ends, O_CLOEXEC) == 0 && ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

bool group_exists(pid_t group) { return ::kill(-group, 0) == 0 || errno == EPERM; }

} // namespace

util::Result<RankProcess> start_rank(const RankStart& start, unsigned local_rank, int input) {
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  const auto fail = [&](const char* what) {
    const util::Error error{std::string(what) + std::strerror(errno), "look at `ulimit -n` and `ulimit -u`"};
    for (const int fd : {out[0], out[1], err[0], err[1]})
      if (fd >= 0) ::close(fd);
    return error;
  };
  if (!make_pipe(out) || !make_pipe(err)) return fail("cannot make a pipe for a rank's output: ");
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail("cannot start a rank: ");
  if (pid == 0) run_child(start, local_rank, input, out[1], err[1], parent);
  ::setpgid(pid, pid); // in both, so that it holds whoever is first
  ::close(out[1]);
  ::close(err[1]);
  RankProcess process;
  process.rank = start.node->world.layout.rank - start.node->world.layout.local_rank + local_rank;
  process.local_rank = local_rank;
  process.pid = pid;
  process.out = out[0];
  process.err = err[0];
  return process;
}

void RankGroups::add(const RankProcess& process) {
  x_guard.set_group(x_ranks.size(), process.pid);
  x_by_pid[process.pid] = x_ranks.size();
  x_ranks.push_back(process);
  ++x_left;
}

void RankGroups::signal(int number) const {
  for (const auto& process : x_ranks)
    if (process.running || process.lingers) ::kill(-process.pid, number);
}

std::vector<std::size_t> RankGroups::reap() {
  std::vector<std::size_t> ended;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return ended;
    const auto found = x_by_pid.find(pid);
    if (found == x_by_pid.end()) continue; // an orphan of a rank: it came to us, as no other was left
    auto& process = x_ranks[found->second];
    process.status = status;
    process.running = false;
    process.end = std::chrono::steady_clock::now();
    x_guard.set_group(found->second, 0);
    ended.push_back(found->second);
    x_by_pid.erase(found);
    --x_left;
  }
}

bool RankGroups::wait_for_group(std::size_t index) {
  auto& process = x_ranks[index];
  // As long as it has a member the group's number belongs to nobody else.
  if (process.lingers || !group_exists(process.pid)) return process.lingers;
  process.lingers = true;
  x_guard.set_group(index, process.pid);
  ++x_left;
  ++x_lingering;
  return true;
}

void RankGroups::stop_waiting(std::size_t index) {
  x_ranks[index].lingers = false;
  x_guard.set_group(index, 0);
  --x_left;
  --x_lingering;
}

std::vector<std::size_t> RankGroups::take_ended_groups() {
  std::vector<std::size_t> ended;
  for (std::size_t i = 0; x_lingering > 0 && i < x_ranks.size(); ++i)
    if (x_ranks[i].lingers && !group_exists(x_ranks[i].pid)) {
      stop_waiting(i);
      ended.push_back(i);
    }
  return ended;
}

std::vector<std::size_t> RankGroups::give_up() {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < x_ranks.size(); ++i)
    if (x_ranks[i].lingers) {
      stop_waiting(i);
      left.push_back(i);
    }
  return left;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return "was killed by " + signal_name(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

} // namespace hpcml::launch
