// SPDX-License-Identifier: MIT
#include "emulate/thread_bindings.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/util/text.hpp"
#include "emulate/task_status.hpp"
#include "emulate/task_tag.hpp"

namespace hpcml::emulate {

ThreadBindings::ThreadBindings(model::IdSet node_cpus, unsigned first_tag) : x_first_tag(first_tag) {
  for (const unsigned id : node_cpus.ids()) x_cpu_ids = id + 1;
  x_states.push_back({std::move(node_cpus), {}});
}

ThreadBindings::SetResult ThreadBindings::set_cpus(pid_t tid, const model::IdSet& wanted) {
  auto state = get(tid);
  if (!state) return SetResult::no_such_task;
  state->cpus = wanted & node_cpus();
  if (state->cpus.empty()) return SetResult::empty_mask;
  set(tid, *state);
  return SetResult::done;
}

bool ThreadBindings::set_memory(pid_t tid, const MemPolicy& policy) {
  auto state = get(tid);
  if (!state) return false;
  state->memory = policy;
  set(tid, *state);
  return true;
}

void ThreadBindings::set(pid_t tid, const ThreadBinding& state) {
  const auto index = intern(state);
  if (index && write_task_tag(tid, x_first_tag + *index))
    x_without_tag.erase(tid);
  else
    x_without_tag[tid] = state;
}

std::optional<ThreadBinding> ThreadBindings::get(pid_t tid) const {
  const auto tag = read_task_tag(tid);
  if (!tag) return std::nullopt;
  if (!x_without_tag.empty())
    if (const auto* state = find_by_ancestors(tid)) return *state;
  return owns_tag(*tag) ? x_states[*tag - x_first_tag] : x_states.front();
}

bool ThreadBindings::owns(pid_t tid) const {
  const auto tag = read_task_tag(tid);
  return tag && owns_tag(*tag);
}

std::optional<unsigned> ThreadBindings::intern(const ThreadBinding& state) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto found = std::find(x_states.begin(), x_states.end(), state);
    if (found != x_states.end()) return static_cast<unsigned>(found - x_states.begin());
    // A dropped state leaves a free place; no thread carries its tag any more.
    const auto hole =
        std::find_if(x_states.begin(), x_states.end(), [](const auto& known) { return known.cpus.empty(); });
    if (hole != x_states.end()) {
      *hole = state;
      return static_cast<unsigned>(hole - x_states.begin());
    }
    if (x_states.size() < k_tags_per_node) {
      x_states.push_back(state);
      return static_cast<unsigned>(x_states.size() - 1);
    }
    drop_unused();
  }
  return std::nullopt;
}

void ThreadBindings::drop_unused() {
  std::set<unsigned> used{x_first_tag};
  for (const pid_t tid : list_all_threads())
    if (const auto tag = read_task_tag(tid)) used.insert(*tag);
  for (unsigned index = 0; index < x_states.size(); ++index)
    if (!used.count(x_first_tag + index)) x_states[index] = ThreadBinding();
}

const ThreadBinding* ThreadBindings::find_by_ancestors(pid_t tid) const {
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
