// SPDX-License-Identifier: MIT
// A step as the batch process finds it: a process whose executable is called srun. Its words choose what it
// does:
//   exit CODE     ends
//   save CODE     ends after a signal
//   ignore CODE   ends after a signal when the file RELEASE exists
//   mkdir, cp, tar, rm, conda-unpack, virtualenv, pip: becomes that command
//   of a check of nodes: prints the file HEALTH, after it has sent the job SIGTERM if ENDS_IN_CHECK is set
// It appends what it does to the file LOG.
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <string>
#include <unistd.h>

namespace {

void append(const std::string& text) {
  const int fd = ::open(std::getenv("LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);
  const auto line = text + "\n";
  (void)!::write(fd, line.data(), line.size());
  ::close(fd);
}

const char* name_of(int signal) {
  switch (signal) {
  case SIGUSR1: return "USR1";
  case SIGUSR2: return "USR2";
  case SIGURG: return "URG";
  default: return "TERM";
  }
}

void wait_for_release() {
  const timespec pause{0, 5'000'000};
  while (::access(std::getenv("RELEASE"), F_OK) != 0) ::nanosleep(&pause, nullptr);
}

} // namespace

int main(int count, char** words) {
  std::string all = "srun", mode;
  int code = 0;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    all += " " + word;
    if (word == "healthy-nodes") {
      if (std::getenv("ENDS_IN_CHECK") != nullptr) ::kill(std::atoi(std::getenv("GROUP")), SIGTERM);
      std::cout << std::ifstream(std::getenv("HEALTH")).rdbuf() << std::flush;
      append("srun health");
      return 0;
    }
    if (word.starts_with("-")) continue;
    if (mode.empty() && std::string(" mkdir cp tar rm conda-unpack virtualenv pip ").find(" " + word + " ") !=
                            std::string::npos) {
      for (int j = i + 1; j < count; ++j) all += std::string(" ") + words[j];
      append(all);
      ::execvp(words[i], words + i);
      return 127;
    }
    if (mode.empty())
      mode = word;
    else
      code = std::atoi(words[i]);
  }
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGUSR1, SIGUSR2, SIGURG, SIGTERM}) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  append(all);
  if (mode == "exit") return code;
  int signal = 0;
  ::sigwait(&set, &signal);
  append(all + ": " + name_of(signal));
  if (mode == "ignore") wait_for_release();
  return code;
}
