// SPDX-License-Identifier: MIT
#include "run/launch/signal_reader.hpp"

#include <sys/signalfd.h>

namespace hpcml::launch {

SignalReader::SignalReader(std::initializer_list<int> signals, System& system) : x_system(system) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  x_system.sigprocmask(SIG_BLOCK, &set, &x_mask_before);
  x_fd = x_system.signalfd(set);
}

SignalReader::~SignalReader() {
  if (x_fd >= 0) x_system.close(x_fd);
  x_system.sigprocmask(SIG_SETMASK, &x_mask_before, nullptr);
}

int SignalReader::next() const {
  signalfd_siginfo info{};
  return x_system.read(x_fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)
             ? static_cast<int>(info.ssi_signo)
             : 0;
}

} // namespace hpcml::launch
