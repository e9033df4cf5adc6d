// SPDX-License-Identifier: MIT
// A number that every thread carries and that the kernel itself hands on to children: which CPU mask the
// thread has.
#pragma once

#include <optional>

#include <sys/types.h>

namespace hpcml::emulate {

/// The first tag; tags are small numbers above it. The value is the thread's timer slack in nanoseconds,
/// whose default of 50 µs it changes by less than programs can notice.
inline constexpr unsigned k_first_tag = 50001;
/// Tags that one node may use.
inline constexpr unsigned k_tags_per_node = 1024;

/// The tag of a thread, by its thread id; nothing if there is no such thread.
std::optional<unsigned> read_task_tag(pid_t tid);
/// Changes it for one thread; threads and processes that it makes later inherit it. False if the kernel
/// refuses.
bool write_task_tag(pid_t tid, unsigned tag);
/// The same for the calling thread, which needs no privilege.
void set_own_task_tag(unsigned tag);

} // namespace hpcml::emulate
