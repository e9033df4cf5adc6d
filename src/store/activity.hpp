// SPDX-License-Identifier: MIT
// When programs last changed something at a store, for the process that has started the store's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "store/protocol.hpp"

namespace hpcml::store {

/// Shared with the children that are forked after it was made.
class Activity {
public:
  using Time = std::chrono::steady_clock::time_point;
  Activity();
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  void touch(Time now);
  /// The clock's beginning where nothing was changed, or no memory could be had.
  Time last() const;

private:
  std::atomic<std::int64_t>* x_nanoseconds = nullptr;
};

/// Whether a message changes what a store holds. Others are no sign of life: NCCL's watchdogs ask again and
/// again, also while all ranks hang. Pure.
bool changes_store(const Message& message);

} // namespace hpcml::store
