// SPDX-License-Identifier: MIT
// Memory and time.
#include "plan/limits.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::Sourced;
using model::Walltime;

std::string partitions_that_allow(const PlanContext& context, Walltime time) {
  std::vector<std::string> names;
  const unsigned gpus = context.plan.layout.nodes * context.plan.layout.gpus_per_node;
  for (const auto& other : context.site.partitions) {
    const auto limit = site::time_limit(other, context.plan.layout.nodes, gpus);
    const bool nodes_fit = !other.max_nodes || context.plan.layout.nodes <= other.max_nodes->value;
    const bool same_nodes = !context.node() || std::find(other.node_types.begin(), other.node_types.end(),
                                                         context.node()->id) != other.node_types.end();
    if (other.nameable && nodes_fit && same_nodes && limit && time <= limit->value)
      names.push_back(other.name + " (" + limit->value.to_slurm() + ")");
  }
  return util::join(names, ", ");
}

/// The QoS that a job there could name instead, and that are long enough.
std::string qos_that_allow(const PlanContext& context, Walltime time) {
  std::vector<std::string> names;
  for (const auto& other : context.site.qos) {
    const bool here = !context.partition() || !context.partition()->nameable ||
                      site::is_place_of(&other, context.partition()->name);
    const bool fits = (!other.max_nodes || context.plan.layout.nodes <= other.max_nodes->value) &&
                      (!other.max_gpus || context.plan.layout.nodes * context.plan.layout.gpus_per_node <=
                                              other.max_gpus->value);
    if (here && fits && !other.on_request && other.max_time && time <= other.max_time->value)
      names.push_back("--qos " + other.name + " (" + other.max_time->value.to_slurm() + ")");
  }
  return util::join(names, ", ");
}

void check_time(PlanContext& context, Walltime time) {
  const std::string asked = "--time " + time.to_slurm();
  const bool by_qos = context.qos() && context.qos()->max_time;
  const std::string where = context.limit_owner(&model::Limits::max_time);
  const model::PlannedLayout& layout = context.plan.layout;
  const auto limit = by_qos                ? context.qos()->max_time
                     : context.partition() ? site::time_limit(*context.partition(), layout.nodes,
                                                              layout.nodes * layout.gpus_per_node)
                                           : std::nullopt;
  if (limit && time > limit->value) {
    const std::string others = by_qos ? qos_that_allow(context, time) : partitions_that_allow(context, time);
    context.error("request/time",
                  asked + ": the limit of " + where + " is " + limit->value.to_slurm() +
                      site::cited(limit->origin),
                  others.empty() ? "use a shorter time and save checkpoints" : "long enough: " + others);
  }
  if (const auto& least = context.limit(&model::Limits::min_time); least && time < least->value)
    context.error("request/time", asked + ": " + context.limit_owner(&model::Limits::min_time) +
                                      " takes jobs from " + least->value.to_slurm() +
                                      site::cited(least->origin));
}

} // namespace

std::optional<Sourced<model::MemSize>> plan_memory(PlanContext& context) {
  const model::FlagRule& rule = context.flag("mem");
  const model::PlannedLayout& layout = context.plan.layout;
  if (!rule.takes()) return std::nullopt;
  // Given in another unit by hand: two kinds of memory options are fatal in Slurm.
  for (const auto& raw : context.job.sbatch)
    if (util::starts_with(raw.value, "--mem-per-")) return std::nullopt;
  if (context.job.mem) {
    constexpr unsigned long long k_least = 512; // MiB: an interpreter with torch needs more
    if (const auto mib = context.job.mem->value.mib(); mib > 0 && mib < k_least)
      context.warning("request/mem",
                      context.job.mem->origin.by + " " + context.job.mem->value.to_slurm() + ": that is " +
                          std::to_string(mib) + " MiB, the unit of Slurm where none is named",
                      "say --mem " + std::to_string(mib) + "G for GiB");
    if (context.node() && context.node()->memory && context.job.mem->value > context.node()->memory->value)
      context.error("request/mem",
                    "--mem " + context.job.mem->value.to_slurm() + ": node type " + context.node()->id +
                        " has " + context.node()->memory->value.to_slurm() + " for jobs" +
                        site::cited(context.node()->memory->origin),
                    "at most --mem " + context.node()->memory->value.to_slurm());
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
    check_time(context, time->value);
  else if (context.partition() && context.partition()->default_time)
    context.note("no --time: the default of the partition is " +
                     context.partition()->default_time->value.to_slurm(),
                 context.partition()->default_time->origin);
  return time;
}

} // namespace hpcml::plan
