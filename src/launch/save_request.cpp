// SPDX-License-Identifier: MIT
#include "launch/save_request.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/failure.hpp"
#include "launch/supervisor.hpp"
#include "model/save_signal.hpp"
#include "util/process.hpp"

namespace hpcml::launch {

namespace {

constexpr std::array<int, 9> k_heard = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,           SIGUSR1,
                                        SIGUSR2, SIGCONT, SIGCHLD, k_save_word_signal};
/// How often a group without its first process is looked at.
constexpr timespec k_look{0, 50000000};

/// Takes in what has ended; true once the rank itself has, with its status.
bool reap(pid_t rank, int& status) {
  bool ended = false;
  for (;;) {
    int one = 0;
    const pid_t pid = ::waitpid(-1, &one, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return ended;
    if (pid != rank) continue;
    status = one;
    ended = true;
  }
}

/// Passes signals on until the rank has ended. A shell may end of one before the program that it started,
/// which is saving then: so the whole group is waited for.
int hand_on(pid_t rank, int save_signal, const sigset_t& heard) {
  int status = 0, passed = 0;
  const auto lives_on = [&] {
    return passed != 0 && util::exit_code_of_status(status) == 128 + passed && ::kill(-rank, 0) == 0;
  };
  for (bool ended = false; !ended || lives_on();) {
    const int signal = ended ? ::sigtimedwait(&heard, nullptr, &k_look) : ::sigwaitinfo(&heard, nullptr);
    if (signal < 0 || signal == SIGCHLD) {
      ended = reap(rank, status) || ended;
      continue;
    }
    const int sent = signal == k_save_word_signal ? save_signal : signal;
    if (sent != SIGCONT) passed = sent;
    ::kill(-rank, sent);
  }
  return status;
}

} // namespace

int find_save_signal(const util::EnvSnapshot& env) {
  const auto text = env.get_or(model::k_save_variable, "");
  const auto asked = model::SaveSignal::parse(text);
  if (!asked) return 0;
  for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM, SIGHUP})
    if (signal_name(signal) == "SIG" + asked->text()) return signal;
  return 0;
}

void ignore_save_signal(int signal) {
  if (signal != 0 && signal != SIGTERM) ::signal(signal, SIG_IGN);
}

int run_handing_on(int save_signal, const std::function<int()>& rank) {
  sigset_t heard, before;
  ::sigemptyset(&heard);
  for (const int signal : k_heard) ::sigaddset(&heard, signal);
  ::sigprocmask(SIG_BLOCK, &heard, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    if (!util::end_with(parent)) ::_exit(k_cannot_set_up);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::_exit(rank());
  }
  if (child < 0) { // nobody hands anything on, and the rank runs all the same
    narrate(std::string("hpcml launch: warning: a request to save does not reach all of this rank: cannot "
                        "fork: ") +
            std::strerror(errno));
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return rank();
  }
  ::setpgid(child, child);
  const int status = hand_on(child, save_signal, heard);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (WIFSIGNALED(status)) end_by_signal(WTERMSIG(status));
  return util::exit_code_of_status(status);
}

} // namespace hpcml::launch
