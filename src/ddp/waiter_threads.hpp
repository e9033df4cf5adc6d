// SPDX-License-Identifier: MIT
// Threads that wait in the place of others, for what can only be waited for without an end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace hpcml::ddp {

/// Each wait has a thread to itself; threads that are done wait for the next one.
class WaiterThreads {
public:
  /// A wait that a thread does. A copy is the same wait.
  class Wait {
  public:
    bool is_over() const;
    /// Waits no longer than `limit`; whether it is over. Throws what it ended with.
    bool is_over_within(std::chrono::milliseconds limit) const;

  private:
    friend class WaiterThreads;
    std::function<void()> x_wait, x_stop; ///< the thread's
    mutable std::mutex x_mutex;           ///< of what follows
    mutable std::condition_variable x_changed;
    bool x_over = false;
    std::exception_ptr x_error;
  };

  WaiterThreads() = default;
  /// Stops all waits that are not over.
  ~WaiterThreads();
  WaiterThreads(const WaiterThreads&) = delete;
  WaiterThreads& operator=(const WaiterThreads&) = delete;

  /// `wait` returns when it is over, or throws; once `stop` was called from another thread, also before
  /// `wait` has begun, it returns soon.
  std::shared_ptr<Wait> begin(std::function<void()> wait, std::function<void()> stop);

private:
  void work();

  std::mutex x_mutex; // of what follows
  std::condition_variable x_changed;
  std::deque<std::shared_ptr<Wait>> x_new;
  std::vector<std::shared_ptr<Wait>> x_running;
  std::size_t x_idle = 0;
  bool x_ends = false;
  std::vector<std::thread> x_threads;
};

} // namespace hpcml::ddp
