// SPDX-License-Identifier: MIT
// The CPU masks of a node's threads.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "model/id_set.hpp"

namespace hpcml::emulate {

/// Which CPUs each thread of one emulated node may use. A thread that never asked has its creator's mask.
class CpuMasks {
public:
  /// `first_tag`: the node's range of task tags; its daemon starts with this one, which means all CPUs.
  CpuMasks(model::IdSet node_cpus, unsigned first_tag);

  enum class SetResult { done, no_such_task, empty_mask };
  /// As the kernel: CPUs that the node lacks are dropped, and nothing may not be left.
  SetResult set(pid_t tid, const model::IdSet& wanted);
  /// Nothing if there is no such thread.
  std::optional<model::IdSet> get(pid_t tid) const;
  /// True if the thread is one of this node's.
  bool owns(pid_t tid) const;
  const model::IdSet& node_cpus() const { return x_masks.front(); }
  /// One more than the highest CPU id.
  unsigned cpu_ids() const { return x_cpu_ids; }

private:
  std::optional<unsigned> intern(const model::IdSet& mask);
  bool owns_tag(unsigned tag) const { return tag >= x_first_tag && tag < x_first_tag + x_masks.size(); }
  const model::IdSet* find_by_ancestors(pid_t tid) const;
  void drop_unused();

  unsigned x_first_tag;
  unsigned x_cpu_ids = 0;
  std::vector<model::IdSet> x_masks;            ///< by tag - x_first_tag
  std::map<pid_t, model::IdSet> x_without_tag;  ///< where the kernel lets nobody set another task's tag
};

} // namespace hpcml::emulate
