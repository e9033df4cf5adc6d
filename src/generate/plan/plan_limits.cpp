// SPDX-License-Identifier: MIT
// Memory and time.
#include "generate/plan/plan_limits.hpp"

#include <algorithm>

#include "core/util/text.hpp"
#include "generate/plan/site_violations.hpp"

namespace hpcml::plan {

using model::Sourced;
using model::Walltime;

std::optional<Sourced<model::MemSize>> plan_memory(const LayoutInput& input, const SiteViolations& judgement,
                                                   StepDiagnostics& diagnostics) {
  const model::FlagRule& rule = input.flag("mem");
  const model::PlannedLayout& layout = input.numbers();
  if (!rule.takes()) return std::nullopt;
  // Given in another unit by hand: two kinds of memory options are fatal in Slurm.
  for (const auto& raw : input.job.sbatch)
    if (raw.value.starts_with("--mem-per-")) {
      judgement.say(diagnostics, {site_rules::SiteRule::memory_over});
      return std::nullopt;
    }
  if (input.mem()) {
    constexpr unsigned long long k_least = 512; // MiB: an interpreter with torch needs more
    if (const auto mib = input.mem()->value.mib(); mib > 0 && mib < k_least)
      diagnostics.warning("request/mem",
                          input.mem()->origin.by + " " + input.mem()->value.to_slurm() + ": that is " +
                              std::to_string(mib) + " MiB, the unit of Slurm where none is named",
                          "say --mem " + std::to_string(mib) + "G for GiB");
    if (site_rules::takes_all_memory(input.placement.place, demand_of(input)))
      diagnostics.warning("request/mem",
                          "--mem 0 takes all memory of a node that others share, for " +
                              std::to_string(layout.gpus_per_node) + " of its GPUs",
                          "leave it out for the GPUs' share, or say --sbatch=--exclusive");
    judgement.say(diagnostics, {site_rules::SiteRule::memory_over});
    return input.mem();
  }
  if (!rule.default_value.empty()) {
    if (auto parsed = model::MemSize::parse(rule.default_value))
      return Sourced<model::MemSize>{*parsed, rule.origin};
  }
  if (!input.node()) return std::nullopt;
  const model::NodeType& node = *input.node();
  if (node.share_policy == model::SharePolicy::automatic && layout.gpus_per_node > 0) {
    diagnostics.note("no --mem: memory comes with the GPUs here", node.origin);
    return std::nullopt;
  }
  const unsigned per_node = node.gpu ? node.gpu->per_node : 0;
  const bool whole = input.owns_nodes() || (per_node > 0 && layout.gpus_per_node == per_node);
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

std::optional<Sourced<Walltime>> plan_time(const LayoutInput& input, const SiteViolations& judgement,
                                           StepDiagnostics& diagnostics) {
  std::optional<Sourced<Walltime>> time = input.job.time;
  const model::FlagRule& rule = input.flag("time");
  if (!time && !rule.default_value.empty())
    if (auto parsed = Walltime::parse(rule.default_value)) time = Sourced<Walltime>{*parsed, rule.origin};
  if (time)
    judgement.say(diagnostics, {site_rules::SiteRule::time_over, site_rules::SiteRule::time_under});
  else if (input.partition() && input.partition()->default_time)
    diagnostics.note("no --time: the default of the partition is " +
                         input.partition()->default_time->value.to_slurm(),
                     input.partition()->default_time->origin);
  return time;
}

} // namespace hpcml::plan
