// SPDX-License-Identifier: MIT
// Which processes of a rank a request to save is delivered to: those that handle its signal, and no others.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "run/launch/system.hpp"

namespace hpcml::launch {

/// A process as /proc shows it, as far as the delivery of one signal depends on it.
struct ProcessSignalState {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t image = 0;  ///< differs between two calls of exec; a fork has its parent's
  std::string name;         ///< of its program, at most 15 characters
  bool handles = false;     ///< it catches the signal, or blocks it in every thread (sigwait, signalfd)
  bool is_launcher = false; ///< an hpcml launch or agent, which delivers to its own ranks itself
};

/// The processes of this node.
class ProcessTable {
public:
  /// Reads /proc; processes that end meanwhile are omitted.
  explicit ProcessTable(System& system);

  std::vector<ProcessSignalState> children(pid_t parent) const;
  /// What these processes do about `signal`, read now; without those that have ended.
  std::vector<ProcessSignalState> read_handling(std::vector<ProcessSignalState> processes, int signal) const;
  /// The same of `roots` and all their descendants, parents before children.
  std::vector<ProcessSignalState> trees(const std::vector<ProcessSignalState>& roots, int signal) const;

private:
  System& x_system;
  std::vector<ProcessSignalState> x_processes;
};

/// Where a signal goes.
struct SignalTarget {
  pid_t pid = 0;
  bool is_launcher = false; ///< it gets the word to save instead of the signal
  bool operator==(const SignalTarget&) const = default;
};

/// The processes among `tree` (parents before children) that are to get the signal. Never one with the
/// default action. A fork of a process that gets it does not: it has inherited the handler without the
/// handler's purpose, as data loaders have. Of a container's starter, which passes signals on to the program
/// in the image, the program alone. Pure.
std::vector<SignalTarget> choose_targets(const std::vector<ProcessSignalState>& tree);

/// Sends `save_signal` to the targets, and the word to save to launchers among them.
void send_to_targets(System& system, const std::vector<SignalTarget>& targets, int save_signal);

/// "hpcml: warning: ranks 0-3 of 8 (nid001) do not handle SIGUSR2 …": one line for these ranks of a node.
std::string describe_unhandled(const std::vector<unsigned>& ranks, unsigned world_size,
                               const std::string& host, int save_signal);

} // namespace hpcml::launch
