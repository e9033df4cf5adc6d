// SPDX-License-Identifier: MIT
// What may never return, and must not hold up who asks for it.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

namespace hpcml::ddp {

/// Runs `action` in a separate thread, and waits for its end at most `limit`. False: it still runs, and
/// everything it uses must remain valid. `action` must not throw.
template <class Action> bool run_within(std::chrono::milliseconds limit, Action action) {
  const auto over = std::make_shared<std::promise<void>>();
  const auto ended = over->get_future();
  std::thread([over, action = std::move(action)]() mutable {
    action();
    over->set_value();
  }).detach();
  return ended.wait_for(limit) == std::future_status::ready;
}

} // namespace hpcml::ddp
