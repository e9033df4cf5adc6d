// SPDX-License-Identifier: MIT
#include "ddp/nccl_watchdog.hpp"

#include <exception>
#include <utility>

#include "ddp/format_message.hpp"

namespace hpcml::ddp {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The pause between two checks. Each one queries the driver, and nothing waits for its result.
constexpr milliseconds k_look{100};
/// The same, while the program waits at its end.
constexpr milliseconds k_short_look{1};

} // namespace

NcclWatchdog::NcclWatchdog(milliseconds timeout, Calls calls)
    : x_timeout(timeout), x_calls(std::move(calls)) {
  x_thread = std::thread([this] { work(); });
}

NcclWatchdog::~NcclWatchdog() {
  {
    const std::lock_guard<std::mutex> lock(x_mutex);
    x_ends = true;
  }
  x_changed.notify_all();
  x_thread.join();
}

void NcclWatchdog::add(const Operation& operation, std::function<bool()> is_done) {
  const std::lock_guard<std::mutex> lock(x_mutex);
  if (x_troubled) return;
  x_begun.push_back({operation, std::move(is_done), steady_clock::now()});
  if (x_begun.size() == 1) x_changed.notify_all();
}

void NcclWatchdog::wait_for_all() {
  std::unique_lock<std::mutex> lock(x_mutex);
  while (!x_begun.empty() && !x_troubled) {
    x_changed.notify_all();
    x_all_over.wait_for(lock, k_short_look);
  }
}

/// Returns whether the operation has ended; `why` contains the reason if it failed.
bool NcclWatchdog::look(const Begun& begun, std::string& why) const {
  try {
    if (begun.is_done()) return true;
  } catch (const std::exception& error) {
    why = error.what();
    return true;
  }
  if (steady_clock::now() - begun.start <= x_timeout) return false;
  why = format_message("not done within {} s", x_timeout.count() / 1000);
  return true;
}

void NcclWatchdog::wait_until_received(std::unique_lock<std::mutex>& lock) {
  for (const auto end = steady_clock::now() + x_calls.grace; steady_clock::now() < end;) {
    if (x_ends || x_calls.is_received()) return;
    x_changed.wait_for(lock, k_look);
  }
  if (!x_ends) x_calls.give_up();
}

void NcclWatchdog::work() {
  std::unique_lock<std::mutex> lock(x_mutex);
  while (!x_ends) {
    if (x_begun.empty()) {
      x_all_over.notify_all();
      x_changed.wait(lock, [this] { return x_ends || !x_begun.empty(); });
      continue;
    }
    const auto first = x_begun.front();
    lock.unlock();
    std::string why;
    const bool over = look(first, why);
    const bool called = !over && x_calls.is_called();
    if (!why.empty() || called) {
      x_calls.on_failure(first.operation, why);
      lock.lock();
      x_troubled = true;
      x_begun.clear();
      x_all_over.notify_all();
      return wait_until_received(lock);
    }
    lock.lock();
    if (over)
      x_begun.pop_front();
    else if (!x_ends)
      x_changed.wait_for(lock, k_look);
  }
}

} // namespace hpcml::ddp
