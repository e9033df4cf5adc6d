// SPDX-License-Identifier: MIT
#include "emulate/assumed_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/site_rules/placement.hpp"
#include "core/util/text.hpp"

namespace hpcml::emulate {

namespace {

// Enough for most jobs that do not say what their nodes have.
constexpr unsigned k_cpus = 64;
constexpr unsigned k_gpus = 4;
constexpr unsigned long long k_memory_mib = 256ULL * 1024;

std::string counted(unsigned number, const std::string& what) {
  return (number == 0 ? std::string("no") : std::to_string(number)) + " " + what + (number == 1 ? "" : "s");
}

/// "node type a", "node types a, b".
std::string name_types(const std::vector<std::string>& ids) {
  return fmt::format("node type{} {}", ids.size() == 1 ? "" : "s", util::join(ids, ", "));
}

/// One partition of all nodes. What the profile does not know of their size is assumed.
void add_partition(model::Site& site, const std::string& name) {
  model::Partition only;
  only.name = !name.empty() ? name : site.other_partitions.empty() ? "main" : site.other_partitions.front();
  only.is_default = true;
  for (auto& type : site.node_types) {
    if (type.cpu.cores == 0) type.cpu = model::make_regular_cpus(1, k_cpus, 1, 0, 0);
    only.node_types.push_back(type.id);
  }
  site.partitions = {only};
}

/// A node of the requested size; what is unset is assumed.
model::NodeType assumed_type(const AssumedNodeHardware& options) {
  model::NodeType type;
  type.id = "assumed";
  type.cpu = model::make_regular_cpus(1, options.cpus.value_or(k_cpus), 1, 0, 0);
  type.memory =
      model::Sourced<model::MemSize>{options.memory.value_or(model::MemSize::of_mib(k_memory_mib)), {}};
  type.host_prefix = "node";
  if (const unsigned gpus = options.gpus.value_or(k_gpus); gpus > 0) {
    type.gpu = model::GpuShape{};
    type.gpu->per_node = gpus;
    type.gpu->vendor = model::GpuVendor::nvidia;
    type.gpu->model = "NVIDIA GPU";
    type.gpu->slurm_type = options.gpu_type;
  }
  return type;
}

} // namespace

util::Result<model::Site> assume_nodes(model::Site site, const std::string& partition,
                                       const AssumedNodeHardware& options) {
  if (!site.partitions.empty())
    return util::Error{
        fmt::format("--cpus-per-node, --gpus-per-node and --mem-per-node cannot be used, because "
                    "the profile of {} describes its nodes",
                    site.short_name()),
        "remove these options"};
  if (site.scheduler == model::Scheduler::none)
    return util::Error{
        fmt::format("the site {} does not use Slurm, so hpcml emulate cannot emulate it", site.short_name()),
        "run the program directly: hpcml launch --nproc-per-node N -- CMD"};
  if (!site.node_types.empty() && !options.any()) {
    add_partition(site, partition);
    return site;
  }
  if (options.cpus == 0U)
    return util::Error{"--cpus-per-node 0 is not valid: a node needs at least one CPU",
                       "use --cpus-per-node 1 or more"};
  site.node_types = {assumed_type(options)};
  add_partition(site, partition);
  return site;
}

std::vector<std::string> complete_nodes(model::Site& site, const std::string& partition) {
  std::vector<std::string> assumed;
  const auto named = std::find_if(site.partitions.begin(), site.partitions.end(),
                                  [&](const auto& candidate) { return candidate.name == partition; });
  if (named != site.partitions.end() &&
      std::none_of(named->node_types.begin(), named->node_types.end(),
                   [&](const auto& id) { return site.find_node_type(id) != nullptr; })) {
    site.node_types.push_back(assumed_type({}));
    named->node_types = {site.node_types.back().id};
    assumed.push_back(
        fmt::format("the profile does not describe the nodes of partition {}: assuming nodes with {}",
                    partition, describe_nodes(site.node_types.back())));
  }
  std::vector<std::string> coreless;
  for (auto& type : site.node_types) {
    if (type.cpu.cores > 0 || (named != site.partitions.end() && !util::contains(named->node_types, type.id)))
      continue;
    type.cpu = model::make_regular_cpus(1, k_unknown_cores, 1, 0, 0);
    coreless.push_back(type.id);
  }
  if (!coreless.empty())
    assumed.push_back(fmt::format("the profile does not state the cores of {}: assuming {} cores per node",
                                  name_types(coreless), k_unknown_cores));
  return assumed;
}

std::vector<std::string> describe_assumptions(const model::Site& site, const ClusterLayout& layout) {
  std::vector<std::string> assumed, unknown;
  for (const auto& node : layout.nodes)
    if (!node.type->memory) util::add_once(unknown, node.type->id);
  if (!unknown.empty())
    assumed.push_back(fmt::format("the profile does not state the memory of {}: assuming {} per node",
                                  name_types(unknown),
                                  model::MemSize::of_mib(k_unknown_memory_mib).to_slurm()));
  if (site_rules::must_name_partition(site)) return assumed;
  if (layout.default_partition.empty())
    assumed.push_back("the profile states no default partition: jobs that name none are rejected");
  else if (layout.default_partition == k_unknown_partition)
    assumed.push_back("the profile states no default partition: jobs that name none get nodes of any size");
  else if (const auto* usual = site.find_partition(layout.default_partition);
           usual && usual->nameable && site_rules::slurm_default_partition(site) == nullptr)
    assumed.push_back(fmt::format("the profile does not state Slurm's default partition: jobs that name "
                                  "none get {}",
                                  usual->name));
  return assumed;
}

std::string describe_nodes(const model::NodeType& type) {
  const std::string gpus = counted(type.gpu ? type.gpu->per_node : 0, "GPU");
  if (!type.memory) return fmt::format("{} and {}", counted(type.cpu.cores, "CPU"), gpus);
  return fmt::format("{}, {} and {} of memory", counted(type.cpu.cores, "CPU"), gpus,
                     type.memory->value.to_slurm());
}

} // namespace hpcml::emulate
