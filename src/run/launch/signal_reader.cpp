// SPDX-License-Identifier: MIT
#include "run/launch/signal_reader.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace hpcml::launch {

SignalReader::SignalReader(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, &x_mask_before);
  x_fd = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalReader::~SignalReader() {
  if (x_fd >= 0) ::close(x_fd);
  ::sigprocmask(SIG_SETMASK, &x_mask_before, nullptr);
}

int SignalReader::next() const {
  signalfd_siginfo info{};
  return ::read(x_fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)
             ? static_cast<int>(info.ssi_signo)
             : 0;
}

} // namespace hpcml::launch
