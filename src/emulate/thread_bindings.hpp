// SPDX-License-Identifier: MIT
// What an emulated node remembers of its threads: CPU masks and memory policies.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "core/model/id_set.hpp"
#include "emulate/mem_policy.hpp"

namespace hpcml::emulate {

/// What is remembered of one thread.
struct ThreadBinding {
  model::IdSet cpus;
  MemPolicy memory;
  bool operator==(const ThreadBinding&) const = default;
};

/// Which CPUs each thread of one emulated node may use, and its memory policy. A thread that never asked has
/// its creator's.
class ThreadBindings {
public:
  /// `first_tag`: the node's range of task tags; its daemon starts with this one, which means all CPUs.
  ThreadBindings(model::IdSet node_cpus, unsigned first_tag);

  enum class SetResult { done, no_such_task, empty_mask };
  /// As the kernel: CPUs that the node lacks are dropped, and nothing may not be left.
  SetResult set_cpus(pid_t tid, const model::IdSet& wanted);
  /// False if there is no such thread.
  bool set_memory(pid_t tid, const MemPolicy& policy);
  /// Nothing if there is no such thread.
  std::optional<ThreadBinding> get(pid_t tid) const;
  /// True if the thread is one of this node's.
  bool owns(pid_t tid) const;
  const model::IdSet& node_cpus() const { return x_states.front().cpus; }
  /// One more than the highest CPU id.
  unsigned cpu_ids() const { return x_cpu_ids; }

private:
  void set(pid_t tid, const ThreadBinding& state);
  std::optional<unsigned> intern(const ThreadBinding& state);
  bool owns_tag(unsigned tag) const { return tag >= x_first_tag && tag < x_first_tag + x_states.size(); }
  const ThreadBinding* find_by_ancestors(pid_t tid) const;
  void drop_unused();

  unsigned x_first_tag;
  unsigned x_cpu_ids = 0;
  std::vector<ThreadBinding> x_states; ///< by tag - x_first_tag; no CPUs: a free place
  std::map<pid_t, ThreadBinding>
      x_without_tag; ///< used if the kernel does not allow setting another task's tag
};

} // namespace hpcml::emulate
