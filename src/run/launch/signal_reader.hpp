// SPDX-License-Identifier: MIT
// Signals of this process as data of a descriptor, for loops that poll.
#pragma once

#include <csignal>
#include <initializer_list>

#include "run/launch/system.hpp"

namespace hpcml::launch {

/// Blocks signals and reads those that arrive, as long as it exists. Then they act as before.
class SignalReader {
public:
  explicit SignalReader(std::initializer_list<int> signals, System& system = System::native());
  ~SignalReader();
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;

  /// The descriptor to poll for reading; -1 and errno if there is none.
  int fd() const { return x_fd; }
  /// The signals that were blocked before.
  const sigset_t& mask_before() const { return x_mask_before; }
  /// Returns a signal that has arrived; 0: none.
  int next() const;

private:
  System& x_system;
  sigset_t x_mask_before{};
  int x_fd = -1;
};

} // namespace hpcml::launch
