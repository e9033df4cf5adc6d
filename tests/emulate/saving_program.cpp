// SPDX-License-Identifier: MIT
// A C++ rank that counts, saves when it is asked to, and resumes: saving_program signalfd|handler
// LAST_RESTART. Prints the lines of the Python program in survival_test.cpp.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <string>
#include <sys/signalfd.h>
#include <unistd.h>

namespace {

volatile std::sig_atomic_t save_requested = 0;

extern "C" void on_save_request(int) { save_requested = 1; }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

int save_signal() {
  const std::map<std::string, int> signals = {
      {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"HUP", SIGHUP}};
  return signals.at(variable("HPCML_SAVE_SIGNAL"));
}

/// A descriptor from which the signal is read; no handler is called for it.
int open_signal(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_NONBLOCK);
}

bool is_requested(int descriptor) {
  signalfd_siginfo info{};
  return save_requested != 0 ||
         (descriptor >= 0 && read(descriptor, &info, sizeof info) == static_cast<ssize_t>(sizeof info));
}

} // namespace

int main(int, char** words) {
  const int descriptor = std::string(words[1]) == "signalfd" ? open_signal(save_signal()) : -1;
  if (descriptor < 0) std::signal(save_signal(), on_save_request);
  const int restart = std::atoi(variable("HPCML_RESTART_COUNT").c_str()), last = std::atoi(words[2]);
  const std::string rank = variable("RANK"), file = variable("HPCML_CHECKPOINT_DIR") + "/rank-" + rank;
  int count = 0;
  std::ifstream(file) >> count;
  std::printf("begin %s restart %d at %s\n", rank.c_str(), restart, count > 0 ? "a checkpoint" : "0");
  std::fflush(stdout);
  const timespec step{0, 10000000};
  for (const int end = count + 100; restart < last || count < end; ++count) {
    if (is_requested(descriptor)) {
      std::ofstream(file + ".part") << count;
      std::rename((file + ".part").c_str(), file.c_str());
      std::printf("saved %s\n", rank.c_str());
      return 0;
    }
    nanosleep(&step, nullptr);
  }
  std::printf("done %s\n", rank.c_str());
  return 0;
}
