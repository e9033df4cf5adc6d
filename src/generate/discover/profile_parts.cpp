// SPDX-License-Identifier: MIT
#include "generate/discover/profile_parts.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/config/text_rule.hpp"
#include "core/model/mem_size.hpp"
#include "core/slurm/cpu_numbering.hpp"
#include "core/util/text.hpp"
#include "generate/discover/json_build.hpp"
#include "generate/discover/topology.hpp"

namespace hpcml::discover {

namespace {

using config::JsonNode;
using model::GpuVendor;

/// One level of the CPU tree as lists by id; nothing where the ids are not 0, 1, 2 …, which a profile could
/// not say.
JsonNode domains(const std::vector<model::CpuDomain>& level) {
  std::vector<std::string> lists;
  for (std::size_t i = 0; i < level.size(); ++i) {
    if (level[i].id != i) return json_texts({});
    lists.push_back(level[i].cpus.to_list());
  }
  return json_texts(lists);
}

JsonNode cpu_part(const NodeKind& kind, const model::NodeType* topology) {
  JsonObjectBuilder cpu;
  cpu.put("sockets", json_number(kind.sockets))
      .put("cores", json_number(kind.cores))
      .put("threads_per_core", json_number(kind.threads_per_core));
  if (topology != nullptr) {
    if (auto numa = domains(topology->cpu.numa); !numa.items.empty()) cpu.put("numa", std::move(numa));
    if (auto l3 = domains(topology->cpu.l3); !l3.items.empty()) cpu.put("l3", std::move(l3));
  }
  if (kind.reserved.empty()) return cpu.node();
  const bool seen = topology != nullptr && topology->cpu.cores == kind.cores;
  const auto reserved = seen ? slurm::to_system_cpus(kind.reserved, topology->cpu)
                             : usual_numbering(kind.reserved, kind.cores, kind.threads_per_core);
  const auto note = fmt::format("Slurm keeps {} cores for the system; which CPUs these are follows from {}",
                                kind.reserved_cores, seen ? "the node's topology" : "the usual numbering");
  return cpu.put("reserved", JsonObjectBuilder().put("value", reserved.to_list()).put("note", note)).node();
}

JsonNode places_part(const model::NodeType& topology, const JsonNode& cpu) {
  const auto known = [&](const char* level, const std::optional<unsigned>& id) {
    const auto* list = cpu.find(level);
    return id && list && *id < list->items.size();
  };
  std::vector<JsonNode> places;
  for (const auto& gpu : topology.gpu->places) {
    JsonObjectBuilder place;
    if (known("numa", gpu.numa)) place.put("numa", json_number(*gpu.numa));
    if (known("l3", gpu.l3)) place.put("l3", json_number(*gpu.l3));
    if (!gpu.pci.empty()) place.put("pci", gpu.pci);
    if (!gpu.nic.empty() && is_name(gpu.nic)) place.put("nic", gpu.nic);
    places.push_back(place.node());
  }
  return json_list(std::move(places));
}

JsonNode gpu_part(const ClusterFacts& facts, const NodeKind& kind, const model::NodeType* topology,
                  const JsonNode& cpu) {
  JsonObjectBuilder gpu;
  const auto seen = topology != nullptr && topology->gpu ? topology->gpu->places.size() : 0;
  const auto count = kind.gpus > 0 ? kind.gpus : seen; // GPUs that come with the node are not in GRES
  gpu.put("per_node", json_number(count));
  auto found = gpu_vendor(facts, kind);
  if (found.vendor == GpuVendor::unknown && seen > 0) found.vendor = topology->gpu->vendor;
  if (found.vendor != GpuVendor::unknown) gpu.put("vendor", model::word_of(found.vendor));
  if (!found.arch.empty()) gpu.put("arch", found.arch);
  if (!kind.gpu_type.empty() && is_name(kind.gpu_type)) gpu.put("slurm_type", kind.gpu_type);
  if (seen == count)
    gpu.put("places",
            JsonObjectBuilder().put("value", places_part(*topology, cpu)).put("source", "topology"));
  std::string others;
  std::vector<JsonNode> slices;
  for (const auto& gres : kind.other_gpus) {
    if (is_gpu_slice(gres.type) && is_name(gres.type))
      slices.push_back(JsonObjectBuilder().put("name", gres.type).node());
    else
      others += (others.empty() ? "" : ", ") + std::to_string(gres.count) + " x " + gres.type;
  }
  if (!slices.empty()) gpu.put("mig", json_list(std::move(slices)));
  if (!others.empty()) gpu.put("note", fmt::format("the nodes also have {}", others));
  return gpu.node();
}

/// The share per GPU where all partitions with this node type have the same; 0 otherwise.
template <class T>
T common_share(const ClusterFacts& facts, const NodeKind& kind,
               std::optional<T> slurm::PartitionRecord::*member) {
  const slurm::PartitionRecord* first = nullptr;
  for (const auto& partition : facts.partitions) {
    if (!kind.in(partition.name)) continue;
    if (first == nullptr) first = &partition;
    if (partition.*member != first->*member) return 0;
  }
  return first == nullptr ? T{} : (first->*member).value_or(0);
}

void put_shares(const ClusterFacts& facts, const NodeKind& kind, JsonObjectBuilder& type) {
  auto cpus = common_share(facts, kind, &slurm::PartitionRecord::def_cpus_per_gpu);
  auto memory = common_share(facts, kind, &slurm::PartitionRecord::def_mem_per_gpu_mib);
  // A partition's default may be meant for its larger nodes: here a job with all GPUs would never start with
  // it.
  if (cpus * kind.gpus > kind.cores * kind.threads_per_core) cpus = 0;
  if (memory * kind.gpus > kind.memory_mib) memory = 0;
  if (cpus > 0 && cpus >= kind.threads_per_core)
    type.put("cpus_per_gpu", json_number(cpus / kind.threads_per_core));
  if (memory > 0) type.put("mem_per_gpu", model::MemSize::of_mib(memory).to_slurm());
  if (cpus > 0 || memory > 0) type.put("share_policy", "auto");
}

} // namespace

GpuArchitecture gpu_vendor(const ClusterFacts& facts, const NodeKind& kind) {
  auto found = find_gpu_architecture(kind.gpu_type);
  for (const auto& feature : kind.features)
    if (found.vendor == GpuVendor::unknown) found = find_gpu_architecture(feature);
  if (found.vendor == GpuVendor::unknown && !facts.gpu_tool.empty())
    found.vendor = facts.gpu_tool == "nvidia-smi" ? GpuVendor::nvidia : GpuVendor::amd;
  return found;
}

JsonNode make_node_type(const ClusterFacts& facts, const NodeKind& kind,
                        const ProfileGenerationInput& request, const std::string& source) {
  const auto found = request.topologies.find(kind.id);
  const model::NodeType* topology = found == request.topologies.end() ? nullptr : &found->second;
  JsonObjectBuilder type;
  type.put("id", kind.id).put("source", source);
  if (model::find_word<model::CpuArch>(kind.arch)) type.put("cpu_arch", kind.arch);
  const auto cpu = cpu_part(kind, topology);
  type.put("cpu", cpu);
  if (kind.gpus > 0 || (topology != nullptr && topology->gpu && !topology->gpu->places.empty()))
    type.put("gpu", gpu_part(facts, kind, topology, cpu));
  if (kind.memory_mib > 1)
    type.put(
        "memory",
        model::MemSize::of_mib(kind.memory_mib).to_slurm()); // 1 is Slurm's default if it is not configured
  if (kind.gpus > 0) put_shares(facts, kind, type);
  std::vector<std::string> features;
  for (const auto& feature : kind.features)
    if (is_name(feature)) features.push_back(feature);
  if (!features.empty()) type.put("features", json_texts(features));
  if (const auto form = find_host_form(kind.nodes);
      form.digits > 0 && form.digits <= 9 && is_name(form.prefix))
    type.put("host_prefix", form.prefix).put("host_digits", json_number(form.digits));
  type.put("node_count", json_number(kind.nodes.size()));
  return type.node();
}

JsonNode make_partition(const ClusterFacts& facts, const slurm::PartitionRecord& partition,
                        const std::vector<NodeKind>& kinds, const ProfileGenerationInput& request,
                        const std::string& source) {
  JsonObjectBuilder object;
  std::vector<std::string> types;
  bool gpus = false;
  for (const auto& kind : kinds) {
    if (!kind.in(partition.name)) continue;
    types.push_back(kind.id);
    gpus = gpus || kind.gpus > 0;
  }
  object.put("name", partition.name).put("node_types", json_texts(types));
  if (partition.is_default) object.put("default", json_flag(true));
  const auto naming = request.trials.flags.find("partition");
  if (naming != request.trials.flags.end() && naming->second.policy == model::OptionPolicy::forbidden)
    object.put("nameable", json_flag(false));
  object.put("exclusive", json_flag(partition.whole_nodes));
  const auto limits = find_limits(partition, facts.qos);
  if (limits.max_time) object.put("max_time", limits.max_time->to_slurm());
  if (partition.default_time) object.put("default_time", partition.default_time->to_slurm());
  if (partition.min_nodes > 1) object.put("min_nodes", json_number(partition.min_nodes));
  if (limits.max_nodes && *limits.max_nodes > 0) object.put("max_nodes", json_number(*limits.max_nodes));
  // Without GPUs in GRES anywhere they may come with the node, and Slurm does not state with which.
  const bool lists_gpus =
      std::any_of(kinds.begin(), kinds.end(), [](const NodeKind& kind) { return kind.gpus > 0; });
  if (!types.empty() && !gpus && lists_gpus) object.put("cpu_only", json_flag(true));
  std::vector<std::string> notes;
  const auto note = [&](const std::string& text, const std::vector<std::string>& names) {
    if (!names.empty()) notes.push_back(text + util::join(names, ", "));
  };
  if (!limits.note.empty()) notes.push_back(limits.note);
  note("only accounts ", partition.allow_accounts);
  note("not accounts ", partition.deny_accounts);
  note("only QoS ", partition.allow_qos);
  note("not QoS ", partition.deny_qos);
  if (partition.max_cpus_per_node)
    notes.push_back(fmt::format("limits jobs to {} CPUs per node (MaxCPUsPerNode of Slurm)",
                                *partition.max_cpus_per_node));
  if (!partition.up)
    notes.push_back(
        fmt::format("was not up when hpcml queried Slurm (check it with 'sinfo -p {}')", partition.name));
  if (types.empty())
    notes.push_back(
        fmt::format("had no nodes when hpcml queried Slurm (check it with 'sinfo -p {}')", partition.name));
  if (!notes.empty()) object.put("note", util::join(notes, "; "));
  return object.put("source", source).node();
}

} // namespace hpcml::discover
