// SPDX-License-Identifier: MIT
// Observes the ranks of a node and can stop them. Implemented by the agent.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "run/launch/rank_process.hpp"

namespace hpcml::launch {

class Supervisor;

class RankObserver {
public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~RankObserver() = default;

  /// Returns a descriptor to poll in addition to the ranks: for reading, or for writing if
  /// `has_output`; -1: none.
  virtual int fd() const { return -1; }
  virtual bool has_output() const { return false; }
  /// When `look` is to be called though `fd` has nothing.
  virtual std::optional<Time> due() const { return std::nullopt; }
  /// `fd` is ready, or `due` is over. True: the ranks are to be stopped.
  virtual bool look(Supervisor& ranks) = 0;
  /// Shows others that this process works, while `look` is not called. Returns when to call it again.
  virtual std::optional<Time> keep_alive() { return std::nullopt; }

  virtual void started(const RankProcess&) {}
  /// All that it wrote on standard error has been taken in, where it ended badly.
  virtual void ended(const RankProcess&, const Supervisor& /*ranks*/) {}
  /// The first rank here that failed of itself; the others of this node are stopped next.
  virtual void failed(const RankProcess& process, const Supervisor& ranks) = 0;
  /// The ranks have no store any more, and are stopped next; `why` is a sentence without a full stop.
  virtual void on_store_lost(const std::string& /*why*/) {}
  /// A signal to end has come; the ranks have been sent it. Also one of another kind that a rank has ended
  /// by.
  virtual void on_stop_requested(int /*signal*/) {}
};

/// How ranks are overseen.
struct SupervisionOptions {
  RankObserver* overseer = nullptr;
  sigset_t mask{};           ///< signals that a rank finds blocked: the overseer has blocked its own before
  std::vector<pid_t> spared; ///< children of this process that are not ranks and continue
  std::string directory;     ///< goes where this process is killed; empty: none
};

} // namespace hpcml::launch
