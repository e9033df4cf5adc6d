// SPDX-License-Identifier: MIT
#include "ddp/waiters.hpp"

#include <algorithm>

namespace hpcml::ddp {

bool Waiters::Wait::is_over() const {
  const std::lock_guard<std::mutex> lock(x_mutex);
  return x_over;
}

bool Waiters::Wait::is_over_within(std::chrono::milliseconds limit) const {
  std::unique_lock<std::mutex> lock(x_mutex);
  if (!x_changed.wait_for(lock, limit, [this] { return x_over; })) return false;
  if (x_error) std::rethrow_exception(x_error);
  return true;
}

std::shared_ptr<Waiters::Wait> Waiters::begin(std::function<void()> wait, std::function<void()> stop) {
  const auto one = std::make_shared<Wait>();
  one->x_wait = std::move(wait);
  one->x_stop = std::move(stop);
  const std::lock_guard<std::mutex> lock(x_mutex);
  x_new.push_back(one);
  if (x_idle < x_new.size())
    x_threads.emplace_back([this] { work(); });
  else
    x_changed.notify_one();
  return one;
}

void Waiters::work() {
  std::unique_lock<std::mutex> lock(x_mutex);
  while (true) {
    ++x_idle;
    x_changed.wait(lock, [this] { return x_ends || !x_new.empty(); });
    --x_idle;
    if (x_new.empty()) return;
    const auto one = x_new.front();
    x_new.pop_front();
    x_running.push_back(one);
    lock.unlock();
    std::exception_ptr error;
    try {
      one->x_wait();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    x_running.erase(std::find(x_running.begin(), x_running.end(), one));
    lock.unlock();
    // What it holds goes before the others hear of its end.
    one->x_wait = one->x_stop = nullptr;
    {
      const std::lock_guard<std::mutex> own(one->x_mutex);
      one->x_over = true;
      one->x_error = error;
      one->x_changed.notify_all();
    }
    lock.lock();
  }
}

Waiters::~Waiters() {
  {
    const std::lock_guard<std::mutex> lock(x_mutex);
    x_ends = true;
    for (const auto& one : x_running) one->x_stop();
    for (const auto& one : x_new) one->x_stop();
    x_changed.notify_all();
  }
  for (auto& thread : x_threads) thread.join();
}

} // namespace hpcml::ddp
