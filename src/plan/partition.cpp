// SPDX-License-Identifier: MIT
// Which partition and which kind of node the job goes to.
#include <algorithm>

#include "plan/plan_context.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

bool wants_gpus(const PlanContext& context) {
  return !context.job.gpus_per_node || context.job.gpus_per_node->value > 0;
}

std::vector<std::string> nameable_partitions(const model::Site& site) {
  std::vector<std::string> names;
  for (const auto& partition : site.partitions)
    if (partition.nameable) names.push_back(partition.name);
  return names;
}

const model::Partition* named_partition(PlanContext& context, const model::Sourced<std::string>& wanted) {
  const model::Site& site = context.site;
  const model::FlagRule& rule = context.flag("partition");
  if (rule.policy == model::Policy::forbidden) {
    context.error("request/partition", site.name + " does not let jobs name a partition" + cited(rule.origin),
                  "leave --partition out" + (rule.why.empty() ? "" : ": " + rule.why));
    return nullptr;
  }
  const model::Partition* found = site.find_partition(wanted.value);
  if (!found && !site.partitions.empty()) {
    const auto names = nameable_partitions(site);
    const auto near = util::nearest(wanted.value, names);
    context.error("request/partition", site.name + " has no partition '" + wanted.value + "'",
                  (near ? "did you mean " + *near + "? " : std::string()) +
                      (names.empty() ? "leave --partition out" : "partitions: " + util::join(names, ", ")));
  } else if (found && !found->nameable) {
    context.error("request/partition",
                  "partition '" + wanted.value + "' of " + site.name +
                      " is chosen by Slurm and may not be named" + cited(found->origin),
                  "leave --partition out");
  }
  return found;
}

/// The partition that takes the job when the request names none: the site's default if it suits, else the
/// first that does.
const model::Partition* default_partition(PlanContext& context) {
  const bool gpus = wants_gpus(context);
  const auto suits = [&](const model::Partition& partition) { return partition.cpu_only != gpus; };
  const model::Partition* chosen = nullptr;
  for (const auto& partition : context.site.partitions)
    if (suits(partition) && (!chosen || (partition.is_default && !chosen->is_default))) chosen = &partition;
  if (!chosen)
    for (const auto& partition : context.site.partitions)
      if (partition.is_default) chosen = &partition;
  std::vector<std::string> names;
  for (const auto& partition : context.site.partitions)
    if (partition.nameable && suits(partition)) names.push_back(partition.name);
  // Two kinds of GPU node and no default: a guess would send the job to hardware that nobody asked for.
  if (chosen && !chosen->is_default && chosen->nameable) {
    context.error("usage/partition",
                  context.site.name + " has no default partition for " + (gpus ? "GPU" : "CPU") + " jobs",
                  "say --partition: " + util::join(names, ", "));
    return nullptr;
  }
  return chosen;
}

/// True if `type` is one of Slurm's names for the GPU or for a part of it, which then becomes the job's.
bool has_type(PlanContext& context, const model::GpuShape& gpu, const std::string& type) {
  const auto names = [&](const std::string& name, const std::vector<std::string>& aliases) {
    return name == type || std::find(aliases.begin(), aliases.end(), type) != aliases.end();
  };
  if (names(gpu.slurm_type, gpu.aliases)) return true;
  for (const auto& slice : gpu.slices)
    if (names(slice.name, slice.aliases)) {
      context.slice = &slice;
      return true;
    }
  return false;
}

/// A part of a GPU brings its own share of the node.
void take_slice(PlanContext& context) {
  if (!context.slice) return;
  const model::Origin& origin = context.node ? context.node->origin : context.job.gpu_type->origin;
  if (!context.job.gpus_per_node) context.job.gpus_per_node = model::Sourced<unsigned>{1, by_rule("one part of a GPU")};
  if (!context.job.cpus_per_task && context.slice->cpus)
    context.job.cpus_per_task = model::Sourced<unsigned>{*context.slice->cpus, origin};
  if (!context.job.mem && context.slice->memory)
    context.job.mem = model::Sourced<model::MemSize>{*context.slice->memory, origin};
}

/// The QoS that the request names, or the one that Slurm or the site takes for it.
const model::Qos* choose_qos(const PlanContext& context) {
  if (context.job.qos) return context.site.find_qos(context.job.qos->value);
  for (const auto& qos : context.site.qos) {
    const auto& places = qos.partitions;
    const bool fits = places.empty() || std::find(places.begin(), places.end(), context.plan.partition) != places.end();
    if (qos.is_default && fits) return &qos;
  }
  return nullptr;
}

/// The node type of the partition (or of the site, where it has no partitions) that has the GPU type asked
/// for.
const model::NodeType* choose_node(PlanContext& context) {
  std::vector<const model::NodeType*> candidates;
  if (context.partition)
    for (const auto& id : context.partition->node_types)
      if (const auto* node = context.site.find_node_type(id)) candidates.push_back(node);
  // With a wrong partition the rest of the request is still checked where the site has one kind of node only.
  if (!context.partition && (context.site.partitions.empty() || context.site.node_types.size() == 1))
    for (const auto& node : context.site.node_types) candidates.push_back(&node);
  if (candidates.empty()) return nullptr;
  if (!context.job.gpu_type) {
    // With a number of GPUs that the first kind of node lacks, a later kind may have it.
    const unsigned gpus = context.job.gpus_per_node ? context.job.gpus_per_node->value : 0;
    for (const auto* node : candidates)
      if (gpus == 0 || (node->gpu && node->gpu->per_node >= gpus)) return node;
    return candidates.front();
  }
  std::vector<std::string> types;
  for (const auto* node : candidates) {
    if (!node->gpu) continue;
    if (has_type(context, *node->gpu, context.job.gpu_type->value)) return node;
    if (!node->gpu->slurm_type.empty()) types.push_back(node->gpu->slurm_type);
    for (const auto& slice : node->gpu->slices) types.push_back(slice.name);
  }
  const auto near = util::nearest(context.job.gpu_type->value, types);
  context.error("request/gpu-type", "no node here has GPUs of type '" + context.job.gpu_type->value + "'",
                (near ? "did you mean " + *near + "? " : std::string()) +
                    (types.empty() ? "its GPUs have no type name: leave --gpu-type out"
                                   : "types: " + util::join(types, ", ")));
  return candidates.front();
}

} // namespace

void plan_partition(PlanContext& context) {
  const model::FlagRule& rule = context.flag("partition");
  if (context.job.partition) {
    context.partition = named_partition(context, *context.job.partition);
    context.plan.partition = context.job.partition->value;
  } else if (!context.site.partitions.empty()) {
    context.partition = default_partition(context);
    if (context.partition) context.plan.partition = context.partition->name;
  } else if (!rule.default_value.empty()) {
    context.plan.partition = rule.default_value;
  }
  context.node = choose_node(context);
  if (context.node) context.plan.node_type = context.node->id;
  take_slice(context);
  context.qos = choose_qos(context);
  if (context.node && context.node->gpu) context.plan.gpu_vendor = context.node->gpu->vendor;
}

} // namespace hpcml::plan
