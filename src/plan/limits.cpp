// SPDX-License-Identifier: MIT
// Memory and time.
#include "plan/limits.hpp"

#include <algorithm>

#include "plan/site_verdicts.hpp"
#include "util/text.hpp"

namespace hpcml::plan {

using model::Sourced;
using model::Walltime;

std::optional<Sourced<model::MemSize>> plan_memory(PlanContext& context) {
  const model::FlagRule& rule = context.flag("mem");
  const model::PlannedLayout& layout = context.plan.layout;
  if (!rule.takes()) return std::nullopt;
  // Given in another unit by hand: two kinds of memory options are fatal in Slurm.
  for (const auto& raw : context.job.sbatch)
    if (util::starts_with(raw.value, "--mem-per-")) {
      say_verdicts(context, {site::Rule::memory_over});
      return std::nullopt;
    }
  if (context.job.mem) {
    constexpr unsigned long long k_least = 512; // MiB: an interpreter with torch needs more
    if (const auto mib = context.job.mem->value.mib(); mib > 0 && mib < k_least)
      context.warning("request/mem",
                      context.job.mem->origin.by + " " + context.job.mem->value.to_slurm() + ": that is " +
                          std::to_string(mib) + " MiB, the unit of Slurm where none is named",
                      "say --mem " + std::to_string(mib) + "G for GiB");
    say_verdicts(context, {site::Rule::memory_over});
    return *context.job.mem;
  }
  if (!rule.default_value.empty()) {
    if (auto parsed = model::MemSize::parse(rule.default_value))
      return Sourced<model::MemSize>{*parsed, rule.origin};
  }
  if (!context.node()) return std::nullopt;
  const model::NodeType& node = *context.node();
  if (node.share_policy == model::SharePolicy::automatic && layout.gpus_per_node > 0) {
    context.note("no --mem: memory comes with the GPUs here", node.origin);
    return std::nullopt;
  }
  const unsigned per_node = node.gpu ? node.gpu->per_node : 0;
  const bool whole = context.owns_nodes() || (per_node > 0 && layout.gpus_per_node == per_node);
  if (whole && (node.memory || !node.mem_per_gpu)) return node.memory;
  if (layout.gpus_per_node > 0 && node.mem_per_gpu)
    return Sourced<model::MemSize>{model::MemSize::of_mib(node.mem_per_gpu->mib() * layout.gpus_per_node),
                                   node.origin};
  if (layout.gpus_per_node > 0 && per_node > 0 && node.memory) { // none: that is refused already
    const unsigned long long share = node.memory->value.mib() * layout.gpus_per_node / per_node;
    return Sourced<model::MemSize>{model::MemSize::of_mib(share), node.memory->origin};
  }
  return std::nullopt;
}

std::optional<Sourced<Walltime>> plan_time(PlanContext& context) {
  std::optional<Sourced<Walltime>> time = context.job.time;
  const model::FlagRule& rule = context.flag("time");
  if (!time && !rule.default_value.empty())
    if (auto parsed = Walltime::parse(rule.default_value)) time = Sourced<Walltime>{*parsed, rule.origin};
  if (time)
    say_verdicts(context, {site::Rule::time_over, site::Rule::time_under});
  else if (context.partition() && context.partition()->default_time)
    context.note("no --time: the default of the partition is " +
                     context.partition()->default_time->value.to_slurm(),
                 context.partition()->default_time->origin);
  return time;
}

} // namespace hpcml::plan
