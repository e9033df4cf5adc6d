// SPDX-License-Identifier: MIT
#include "store/activity.hpp"

#include <new>
#include <sys/mman.h>

namespace hpcml::store {

Activity::Activity() {
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  void* shared =
      ::mmap(nullptr, sizeof *x_nanoseconds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) x_nanoseconds = new (shared) std::atomic<std::int64_t>(0);
}

Activity::~Activity() {
  if (x_nanoseconds != nullptr) ::munmap(x_nanoseconds, sizeof *x_nanoseconds);
}

void Activity::touch(Time now) {
  if (x_nanoseconds != nullptr)
    *x_nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
}

Activity::Time Activity::last() const {
  return Time(std::chrono::nanoseconds(x_nanoseconds != nullptr ? x_nanoseconds->load() : 0));
}

bool changes_store(const Message& message) {
  switch (message.op) {
  case Op::set:
  case Op::compare_set:
  case Op::append:
  case Op::multi_set:
  case Op::delete_key:
  case Op::queue_push:
  case Op::queue_pop: return true;
  case Op::add: return message.number != 0; // adding nothing is how torch's barrier looks again
  default: return false;
  }
}

} // namespace hpcml::store
