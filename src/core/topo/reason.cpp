// SPDX-License-Identifier: MIT
// Sentences of the affinity planner.
#include "core/topo/reason.hpp"

#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

/// "GPUs 0-1": the GPUs' own numbers, not their places in the list.
std::string gpu_text(const std::vector<unsigned>& gpus) {
  return (gpus.size() == 1 ? "GPU " : "GPUs ") + model::IdSet::of(gpus).to_list();
}

model::IdSet first_threads_of(const std::vector<Core>& cores) {
  model::IdSet first_threads;
  for (const Core& core : cores) first_threads.add(core.threads.first());
  return first_threads;
}

std::string cores_text(const model::IdSet& first_threads) {
  return (first_threads.size() == 1 ? "core " : "cores ") + first_threads.to_list();
}

std::string homes_text(const std::vector<const CoreRequest*>& mine, const std::vector<Pool>& pools) {
  std::vector<std::string> names;
  for (const CoreRequest* claim : mine) util::add_once(names, pools[claim->home].name);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return text;
}

} // namespace

std::string reason_text(const model::PlannedRankBinding& binding, const std::vector<const CoreRequest*>& mine,
                        const std::vector<Pool>& pools, const CoreAllocation& share) {
  std::string why;
  const Pool& home = pools[mine.front()->home];
  if (!binding.gpus.empty()) {
    why = gpu_text(binding.gpus);
    if (home.level == PoolLevel::node)
      why += ": locality unknown; ";
    else
      why += (binding.gpus.size() == 1 ? " is under " : " are under ") + homes_text(mine, pools) + "; ";
  }
  why += cores_text(first_threads_of(share.cores));
  model::IdSet reserved;
  for (const CoreRequest* claim : mine) reserved = reserved | pools[claim->pool].reserved;
  if (!reserved.empty())
    why += ", " + cores_text(reserved) + (reserved.size() == 1 ? " is" : " are") + " reserved";
  if (mine.front()->pool != mine.front()->home) why += "; " + home.name + " has no free core";
  for (const BorrowedCores& extra : share.extras)
    why += "; " + cores_text(first_threads_of(extra.cores)) + " of " + pools[extra.pool].name +
           (extra.spilled ? ", which has no GPU" : ", because its own domain has no more");
  return why;
}

std::vector<std::string> share_warnings(unsigned rank, const std::vector<const CoreRequest*>& mine,
                                        const std::vector<Pool>& pools, const CoreAllocation& share,
                                        unsigned wanted) {
  std::vector<std::string> warnings;
  const std::string who = "rank " + std::to_string(rank);
  for (const CoreRequest* claim : mine)
    if (claim->bare)
      warnings.push_back(who + ": GPU " + std::to_string(claim->gpu_index) +
                         " has no core of its own: " + pools[claim->home].name + " has no free one");
    else if (claim->pool != claim->home)
      warnings.push_back(who + ": GPU not local: " + pools[claim->home].name +
                         " has no free core, taken from " + pools[claim->pool].name);
  for (const BorrowedCores& extra : share.extras)
    if (mine.front()->gpu && !extra.spilled && extra.pool != mine.front()->pool)
      warnings.push_back(who + ": GPU not local to " + cores_text(first_threads_of(extra.cores)) +
                         ", taken from " + pools[extra.pool].name);
  if (wanted > share.size())
    warnings.push_back(who + " gets " + std::to_string(share.size()) + " of the " + std::to_string(wanted) +
                       " cores asked for");
  return warnings;
}

} // namespace hpcml::topo
