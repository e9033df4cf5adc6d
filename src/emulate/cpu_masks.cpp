// SPDX-License-Identifier: MIT
#include "emulate/cpu_masks.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "emulate/task_status.hpp"
#include "emulate/task_tag.hpp"
#include "util/text.hpp"

namespace hpcml::emulate {

CpuMasks::CpuMasks(model::IdSet node_cpus, unsigned first_tag) : x_first_tag(first_tag) {
  for (const unsigned id : node_cpus.ids()) x_cpu_ids = id + 1;
  x_masks.push_back(std::move(node_cpus));
}

CpuMasks::SetResult CpuMasks::set(pid_t tid, const model::IdSet& wanted) {
  const auto tag = read_task_tag(tid);
  if (!tag) return SetResult::no_such_task;
  const model::IdSet mask = wanted & node_cpus();
  if (mask.empty()) return SetResult::empty_mask;
  const auto index = intern(mask);
  if (index && write_task_tag(tid, x_first_tag + *index)) x_without_tag.erase(tid);
  else x_without_tag[tid] = mask;
  return SetResult::done;
}

std::optional<model::IdSet> CpuMasks::get(pid_t tid) const {
  const auto tag = read_task_tag(tid);
  if (!tag) return std::nullopt;
  if (!x_without_tag.empty())
    if (const auto* mask = find_by_ancestors(tid)) return *mask;
  return owns_tag(*tag) ? x_masks[*tag - x_first_tag] : node_cpus();
}

bool CpuMasks::owns(pid_t tid) const {
  const auto tag = read_task_tag(tid);
  return tag && owns_tag(*tag);
}

std::optional<unsigned> CpuMasks::intern(const model::IdSet& mask) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto found = std::find(x_masks.begin(), x_masks.end(), mask);
    if (found != x_masks.end()) return static_cast<unsigned>(found - x_masks.begin());
    // A dropped mask leaves an empty place; no thread carries its tag any more.
    const auto hole = std::find_if(x_masks.begin(), x_masks.end(), [](const auto& set) { return set.empty(); });
    if (hole != x_masks.end()) {
      *hole = mask;
      return static_cast<unsigned>(hole - x_masks.begin());
    }
    if (x_masks.size() < k_tags_per_node) {
      x_masks.push_back(mask);
      return static_cast<unsigned>(x_masks.size() - 1);
    }
    drop_unused();
  }
  return std::nullopt;
}

void CpuMasks::drop_unused() {
  std::set<unsigned> used{x_first_tag};
  for (const pid_t tid : list_all_threads())
    if (const auto tag = read_task_tag(tid)) used.insert(*tag);
  for (unsigned index = 0; index < x_masks.size(); ++index)
    if (!used.count(x_first_tag + index)) x_masks[index] = model::IdSet();
}

const model::IdSet* CpuMasks::find_by_ancestors(pid_t tid) const {
  while (tid > 1) {
    const auto found = x_without_tag.find(tid);
    if (found != x_without_tag.end()) return &found->second;
    const auto links = read_task_links(tid);
    if (!links) return nullptr;
    tid = links->process != tid ? links->process : links->parent;
  }
  return nullptr;
}

} // namespace hpcml::emulate
