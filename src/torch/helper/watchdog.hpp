// SPDX-License-Identifier: MIT
// A rank's own end: LibTorch's time limits do not hold everywhere, and a preflight that hangs is worth
// nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace hpcml::helper {

/// Returns the time after which a rank ends itself in any wait: six phases, each with its limit and the time
/// for the agreement of the ranks, and the search for the faulty rank.
constexpr std::chrono::milliseconds watchdog_limit(std::chrono::milliseconds timeout) {
  return 8 * timeout + std::chrono::seconds(150);
}

/// Calls `end` from a separate thread if this object still exists after the limit.
class Watchdog {
public:
  using End = std::function<void(const std::string& phase, std::chrono::milliseconds limit)>;
  Watchdog(std::chrono::milliseconds limit, End end);
  ~Watchdog();
  /// What the rank is in now.
  void enter(const std::string& phase);

private:
  std::mutex x_mutex;
  std::condition_variable x_wake;
  bool x_done = false;
  std::string x_phase = "rendezvous";
  std::thread x_thread; ///< last: it uses the others
};

} // namespace hpcml::helper
