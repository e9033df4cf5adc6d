// SPDX-License-Identifier: MIT
#include "ddp/waiter_threads.hpp"

#include <algorithm>

namespace hpcml::ddp {

bool WaiterThreads::Wait::is_over() const {
  const std::lock_guard<std::mutex> lock(x_mutex);
  return x_over;
}

bool WaiterThreads::Wait::is_over_within(std::chrono::milliseconds limit) const {
  std::unique_lock<std::mutex> lock(x_mutex);
  if (!x_changed.wait_for(lock, limit, [this] { return x_over; })) return false;
  if (x_error) std::rethrow_exception(x_error);
  return true;
}

std::shared_ptr<WaiterThreads::Wait> WaiterThreads::begin(std::function<void()> wait,
                                                          std::function<void()> stop) {
  const auto new_wait = std::make_shared<Wait>();
  new_wait->x_wait = std::move(wait);
  new_wait->x_stop = std::move(stop);
  const std::lock_guard<std::mutex> lock(x_mutex);
  x_new.push_back(new_wait);
  if (x_idle < x_new.size())
    x_threads.emplace_back([this] { work(); });
  else
    x_changed.notify_one();
  return new_wait;
}

void WaiterThreads::work() {
  std::unique_lock<std::mutex> lock(x_mutex);
  while (true) {
    ++x_idle;
    x_changed.wait(lock, [this] { return x_ends || !x_new.empty(); });
    --x_idle;
    if (x_new.empty()) return;
    const auto wait = x_new.front();
    x_new.pop_front();
    x_running.push_back(wait);
    lock.unlock();
    std::exception_ptr error;
    try {
      wait->x_wait();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    x_running.erase(std::find(x_running.begin(), x_running.end(), wait));
    lock.unlock();
    // Its tensors are released before the others learn of its end.
    wait->x_wait = wait->x_stop = nullptr;
    {
      const std::lock_guard<std::mutex> own(wait->x_mutex);
      wait->x_over = true;
      wait->x_error = error;
      wait->x_changed.notify_all();
    }
    lock.lock();
  }
}

WaiterThreads::~WaiterThreads() {
  {
    const std::lock_guard<std::mutex> lock(x_mutex);
    x_ends = true;
    for (const auto& wait : x_running) wait->x_stop();
    for (const auto& wait : x_new) wait->x_stop();
    x_changed.notify_all();
  }
  for (auto& thread : x_threads) thread.join();
}

} // namespace hpcml::ddp
