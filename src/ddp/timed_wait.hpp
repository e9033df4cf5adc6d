// SPDX-License-Identifier: MIT
// A wait for an operation of c10d that has an end.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>

namespace hpcml::ddp {

/// Waits at most `limit` (at least 1 ms, because 0 means no limit), and returns whether the operation has
/// ended. Throws its error. `Awaited` is a c10d::Work that a timed wait does not change.
template <class Awaited> bool wait_at_most(Awaited& operation, std::chrono::milliseconds limit) {
  try {
    return operation.wait(std::max(limit, std::chrono::milliseconds(1)));
  } catch (const std::exception&) {
    if (!operation.isCompleted()) return false;
  }
  // It failed, or it ended just after the time was over: the operation itself knows.
  return operation.wait();
}

} // namespace hpcml::ddp
