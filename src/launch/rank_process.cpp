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
[[noreturn]] void run_child(RankSetup& setup, const LaunchRequest& request, const Surroundings& here,
                            const sigset_t& mask, int input, int out, int err, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(k_cannot_set_up); // it died before the kernel knew what we want
  const int nothing = input < 0 ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
  if (input != STDIN_FILENO) ::dup2(input < 0 ? nothing : input, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::_exit(become_rank(setup, request, here));
}

bool make_pipe(int ends[2]) {
  return ::pipe2(ends, O_CLOEXEC) == 0 && ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

} // namespace

util::Result<RankProcess> start_rank(RankSetup& setup, const LaunchRequest& request, const Surroundings& here,
                                     const sigset_t& mask, int input) {
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
  if (pid == 0) run_child(setup, request, here, mask, input, out[1], err[1], parent);
  ::setpgid(pid, pid); // in both, so that it holds whoever is first
  ::close(out[1]);
  ::close(err[1]);
  RankProcess process;
  process.rank = setup.world.layout.rank;
  process.local_rank = setup.world.layout.local_rank;
  process.pid = pid;
  process.out = out[0];
  process.err = err[0];
  return process;
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
