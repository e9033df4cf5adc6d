// SPDX-License-Identifier: MIT
// Looks after operations that a GPU's stream waits for, and no thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "ddp/failure_cause.hpp"

namespace hpcml::ddp {

/// Detects that an operation of NCCL failed or never ends, which only this thread can see: waiting for an
/// operation merely orders streams and returns.
class NcclWatchdog {
public:
  /// What it calls in its thread.
  struct Calls {
    /// Some rank is in trouble: no operation ends any more.
    std::function<bool()> is_called;
    /// Once, for the first operation that failed or was not done within the time; nothing is looked after
    /// then. `why` is empty where another rank has called.
    std::function<void(const Operation&, const std::string& why)> on_failure;
    std::function<bool()> is_received; ///< the program has received it
    std::function<void()> give_up;     ///< it has not, for a while: it may wait for the GPU for ever
    std::chrono::milliseconds grace{
        15000}; ///< in which a program that lives begins its next operation, or ends
  };
  NcclWatchdog(std::chrono::milliseconds timeout, Calls calls);
  /// Forgets what has not ended.
  ~NcclWatchdog();
  NcclWatchdog(const NcclWatchdog&) = delete;
  NcclWatchdog& operator=(const NcclWatchdog&) = delete;

  /// It has begun now; `is_done` throws if it failed. Operations end in the order in which they began, or
  /// nearly.
  void add(const Operation& operation, std::function<bool()> is_done);
  /// Returns when all that was added has ended, or on_failure() has returned.
  void wait_for_all();

private:
  struct Begun {
    Operation operation;
    std::function<bool()> is_done;
    std::chrono::steady_clock::time_point start;
  };
  void work();
  void wait_until_received(std::unique_lock<std::mutex>& lock);
  bool look(const Begun& begun, std::string& why) const;

  const std::chrono::milliseconds x_timeout;
  const Calls x_calls;
  std::mutex x_mutex; // of what follows
  std::condition_variable x_changed, x_all_over;
  std::deque<Begun> x_begun;
  bool x_ends = false, x_troubled = false;
  std::thread x_thread;
};

} // namespace hpcml::ddp
