// SPDX-License-Identifier: MIT
#include "run/store/shared_store_activity.hpp"

#include <new>
#include <sys/mman.h>

namespace hpcml::store {

SharedStoreActivity::SharedStoreActivity() {
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  static_assert(std::atomic<unsigned>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
  void* shared = ::mmap(nullptr, sizeof *x_shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) x_shared = new (shared) Shared;
}

SharedStoreActivity::~SharedStoreActivity() {
  if (x_shared != nullptr) ::munmap(x_shared, sizeof *x_shared);
}

void SharedStoreActivity::touch(Time now) {
  if (x_shared != nullptr)
    x_shared->nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
}

SharedStoreActivity::Time SharedStoreActivity::last() const {
  return Time(std::chrono::nanoseconds(x_shared != nullptr ? x_shared->nanoseconds.load() : 0));
}

void SharedStoreActivity::note_worlds(const ObservedWorlds& seen) {
  if (x_shared == nullptr) return;
  x_shared->alone = seen.alone;
  x_shared->joined = seen.joined;
}

ObservedWorlds SharedStoreActivity::worlds() const {
  return x_shared == nullptr ? ObservedWorlds{} : ObservedWorlds{x_shared->alone, x_shared->joined};
}

bool changes_store(const TcpStoreMessage& message) {
  switch (message.op) {
  case StoreOpcode::set:
  case StoreOpcode::compare_set:
  case StoreOpcode::append:
  case StoreOpcode::multi_set:
  case StoreOpcode::delete_key:
  case StoreOpcode::queue_push:
  case StoreOpcode::queue_pop: return true;
  case StoreOpcode::add: return message.number != 0; // adding nothing is how torch's barrier looks again
  default: return false;
  }
}

} // namespace hpcml::store
