// SPDX-License-Identifier: MIT
#include "torch/helper/watchdog.hpp"

namespace hpcml::helper {

Watchdog::Watchdog(std::chrono::milliseconds limit, End end)
    : x_thread([this, limit, end = std::move(end)] {
        std::unique_lock<std::mutex> lock(x_mutex);
        if (!x_wake.wait_for(lock, limit, [this] { return x_done; })) end(x_phase, limit);
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(x_mutex);
    x_done = true;
  }
  x_wake.notify_all();
  x_thread.join();
}

void Watchdog::enter(const std::string& phase) {
  const std::lock_guard<std::mutex> lock(x_mutex);
  x_phase = phase;
}

} // namespace hpcml::helper
