// SPDX-License-Identifier: MIT
#include "generate/discover/compare_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace hpcml::discover {

namespace {

using diag::Severity;
using model::NodeType;

unsigned gpus_of(const NodeType& type) { return type.gpu ? type.gpu->per_node : 0; }

/// How much a kind of the cluster is like a kind of the profile.
int likeness(const NodeType& type, const NodeKind& kind, bool gpus_hidden) {
  int score = 0;
  const auto form = find_host_form(kind.nodes);
  if (!type.host_prefix.empty() && form.digits > 0 && form.prefix == type.host_prefix) score += 6;
  if (!gpus_hidden && gpus_of(type) == kind.gpus) score += 4;
  if (!gpus_hidden && (gpus_of(type) > 0) == (kind.gpus > 0)) score += 2;
  if (type.gpu && !kind.gpu_type.empty() && type.gpu->slurm_type == kind.gpu_type) score += 3;
  if (type.cpu.cores == kind.cores) score += 3;
  if (type.cpu.sockets == kind.sockets) score += 1;
  if (type.memory && kind.memory_mib > 1) {
    const auto mine = type.memory->value.mib();
    score += mine * 10 >= kind.memory_mib * 8 && mine * 8 <= kind.memory_mib * 10 ? 2 : 0;
  }
  return score;
}

void compare_cpus(ProfileDifferences& drift, const std::string& at, const NodeType& type,
                  const NodeKind& kind) {
  const auto differ = [&](const char* what, unsigned profile, unsigned cluster) {
    if (profile != cluster)
      drift.add(Severity::error, "node",
                fmt::format("{}: {}: {} in the profile, but {} on the cluster", at, what, profile, cluster));
  };
  differ("cpu.cores", type.cpu.cores, kind.cores);
  differ("cpu.sockets", type.cpu.sockets, kind.sockets);
  differ("cpu.threads_per_core", type.cpu.threads_per_core, kind.threads_per_core);
  unsigned reserved = 0;
  for (const auto& threads : type.cpu.core_threads) reserved += threads.intersects(type.cpu.reserved) ? 1 : 0;
  if (reserved != kind.reserved_cores)
    drift.add(reserved < kind.reserved_cores ? Severity::error : Severity::warning, "node",
              fmt::format("{}: cpu.reserved: {} cores in the profile, but {} on the cluster", at, reserved,
                          kind.reserved_cores));
  if (const auto arch = model::word_of(type.cpu_arch);
      !arch.empty() && !kind.arch.empty() && arch != kind.arch)
    drift.add(Severity::error, "node",
              fmt::format("{}: cpu_arch: {} in the profile, but {} on the cluster", at, arch, kind.arch));
}

void compare_memory(ProfileDifferences& drift, const std::string& at, const NodeType& type,
                    const NodeKind& kind) {
  if (kind.memory_mib <= 1) return; // Slurm's default if the memory is not configured
  const auto cluster = model::MemSize::of_mib(kind.memory_mib);
  if (!type.memory) {
    drift.add(Severity::note, "unknown",
              fmt::format("{}: memory: not in the profile, but {} on the cluster", at, cluster.to_slurm()));
  } else if (type.memory->value > cluster) {
    drift.add(Severity::error, "node",
              fmt::format("{}: memory: {} in the profile, but {} for jobs on the cluster", at,
                          type.memory->value.to_slurm(), cluster.to_slurm()));
  } else if (type.memory->value.mib() * 10 < cluster.mib() * 9) {
    drift.add(Severity::warning, "node",
              fmt::format("{}: memory: {} in the profile, but {} for jobs on the cluster", at,
                          type.memory->value.to_slurm(), cluster.to_slurm()));
  }
}

void compare_gpus(ProfileDifferences& drift, const std::string& at, const NodeType& type,
                  const NodeKind& kind, bool gpus_hidden) {
  if (gpus_hidden) {
    if (kind.gpus > 0)
      drift.add(
          Severity::warning, "gpu",
          fmt::format("{}: the profile has no GPU option (gpu_request.style none), but the cluster lists {}",
                      at, kind.gpus));
    return;
  }
  // A node whose GPUs are cut counts the parts.
  if (type.gpu && std::any_of(type.gpu->slices.begin(), type.gpu->slices.end(),
                              [&](const auto& slice) { return slice.name == kind.gpu_type; }))
    return;
  if (gpus_of(type) != kind.gpus) {
    drift.add(Severity::error, "gpu",
              fmt::format("{}: gpu.per_node: {} in the profile, but {} on the cluster", at, gpus_of(type),
                          kind.gpus));
    return;
  }
  if (!type.gpu || type.gpu->slurm_type == kind.gpu_type) return;
  if (type.gpu->slurm_type.empty())
    drift.add(
        Severity::note, "unknown",
        fmt::format("{}: gpu.slurm_type: not in the profile, but {} on the cluster", at, kind.gpu_type));
  else
    drift.add(Severity::error, "gpu",
              fmt::format("{}: gpu.slurm_type: {} in the profile, but the cluster {}", at,
                          type.gpu->slurm_type,
                          kind.gpu_type.empty() ? std::string("names no type")
                                                : fmt::format("has {}", kind.gpu_type)));
}

} // namespace

void ProfileDifferences::add(Severity severity, const std::string& rule, const std::string& message,
                             const std::string& hint) {
  const bool is_known = std::any_of(x_list.begin(), x_list.end(), [&](const diag::Diagnostic& finding) {
    return finding.message == message;
  });
  if (!is_known) x_list.push_back({severity, "drift/" + rule, message, {}, hint});
}

void compare_nodes(ProfileDifferences& drift, const model::Site& site, const model::Partition& partition,
                   const std::vector<NodeKind>& kinds) {
  std::vector<const NodeKind*> partition_kinds;
  for (const auto& kind : kinds)
    if (kind.in(partition.name)) partition_kinds.push_back(&kind);
  if (partition_kinds.empty()) {
    drift.add(Severity::note, "nodes", fmt::format("partition {}: no nodes on the cluster", partition.name));
    return;
  }
  const bool gpus_hidden = site.gpu_request.style == model::GpuOptionStyle::none;
  std::set<std::string> seen;
  for (const auto* kind : partition_kinds) {
    const NodeType* best = nullptr;
    for (const auto& id : partition.node_types) {
      const auto* type = site.find_node_type(id);
      if (type != nullptr &&
          (best == nullptr || likeness(*type, *kind, gpus_hidden) > likeness(*best, *kind, gpus_hidden)))
        best = type;
    }
    if (best == nullptr) {
      drift.add(Severity::note, "unknown",
                fmt::format("partition {}: no nodes in the profile, but {} of type {} on the cluster",
                            partition.name, kind->nodes.size(), kind->id));
      continue;
    }
    // Kinds that differ only in their features, which nodes have for many reasons, are one kind here.
    for (const auto& id : partition.node_types)
      if (const auto* type = site.find_node_type(id);
          type && likeness(*type, *kind, gpus_hidden) == likeness(*best, *kind, gpus_hidden))
        seen.insert(id);
    const auto at = fmt::format("node type {} ({}{})", best->id, kind->nodes.front(),
                                kind->nodes.size() > 1 ? ", …" : "");
    compare_cpus(drift, at, *best, *kind);
    compare_memory(drift, at, *best, *kind);
    compare_gpus(drift, at, *best, *kind, gpus_hidden);
  }
  for (const auto& id : partition.node_types)
    if (!seen.contains(id))
      drift.add(
          Severity::warning, "nodes",
          fmt::format("partition {}: no nodes on the cluster like {} of the profile", partition.name, id));
}

} // namespace hpcml::discover
