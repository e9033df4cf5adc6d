// SPDX-License-Identifier: MIT
// Where a job lands on a site: its partitions, node types and QoS. The one place where that is decided.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/site_rules/facts.hpp"
#include "core/site_rules/resource_request.hpp"

namespace hpcml::site_rules {

/// What chose the partition. `only_with_type`: of those to choose among it alone has such GPUs.
enum class PartitionOriginKind { none, job, profile, only_with_type };

/// What the profile states about the job's place. What it does not state is empty or null: then nothing is
/// evaluated.
struct ResolvedPlacement {
  std::vector<const model::Partition*> partitions; ///< all of which may take the job
  PartitionOriginKind chosen_by = PartitionOriginKind::none;
  std::vector<std::string> choices; ///< partitions that suit the job and that it may name
  bool sure = false; ///< the job certainly goes to one of `partitions`, and their limits hold for it
  std::vector<const model::NodeType*> kinds; ///< all of these partitions, or of the site where it has none
  std::vector<const model::NodeType*> nodes; ///< those of them that can take the job by GPU type and features
  const model::NodeType* planned = nullptr;  ///< of a request: the one of them that it is planned for
  bool type_exists = true;                   ///< false: none of `kinds` has GPUs of the type that is named
  const model::MigInstanceType* slice = nullptr; ///< the MIG instance that the job requests, if any
  const model::Qos* qos = nullptr; ///< named or by default; none if the profile does not have it
  JobFacts facts;                  ///< for conditional rules, with the first partition and node
  bool owner = false;              ///< the job asks for the nodes alone

  /// The first partition; nothing where none is known.
  const model::Partition* partition() const { return partitions.empty() ? nullptr : partitions.front(); }
  /// The node type that the job is planned for, else the first; nothing where none is known.
  const model::NodeType* node() const { return planned || nodes.empty() ? planned : nodes.front(); }
  /// True if the profile says that the job has its nodes to itself.
  bool owns_nodes() const { return owner || (partition() && partition()->exclusive); }
};

/// True if every job must name its partition. A rule for jobs with GPUs leaves the others a default.
bool must_name_partition(const model::Site& site);
/// The partition that Slurm gives to jobs that name none; null if the profile does not state it or there is
/// none. Of partitions that jobs may not name the site chooses one by what the job requests: none of them is
/// this one.
const model::Partition* slurm_default_partition(const model::Site& site);
/// Where the job goes: to the partition that it names, or that the profile has for such jobs.
ResolvedPlacement place(const model::Site& site, const ResourceRequest& demand);
/// The QoS of a job in the partition that names this one, or none.
const model::Qos* choose_qos(const model::Site& site, const std::string& named, const std::string& partition);
/// Those with GPUs of this type, or with a part of one that is called so; where no name fits, those whose
/// GPUs may have it for all that the profile knows.
std::vector<const model::NodeType*> nodes_with_type(const std::vector<const model::NodeType*>& nodes,
                                                    const std::string& type);
/// The partitions that jobs may name and that have such nodes.
std::vector<std::string> partitions_with_type(const model::Site& site, const std::string& type);
/// Whether one such node gives this many GPUs and, where that is asked for and known, this much memory.
bool gives(const model::NodeType& node, std::uint64_t gpus, const std::optional<model::MemSize>& memory);
/// Nodes that may get the job although they have other cores or memory per GPU than the one that it is
/// planned for.
std::vector<const model::NodeType*> nodes_with_other_share(const ResolvedPlacement& placement,
                                                           std::uint64_t gpus,
                                                           const std::optional<model::MemSize>& memory);
/// Whether no node of these partitions (none: of the site) reaches the internet, by whatever way.
bool is_offline(const model::Site& site, const std::vector<const model::Partition*>& partitions);
/// Whether the job takes all memory of a node that others share, for a part of its GPUs (--mem=0).
bool takes_all_memory(const ResolvedPlacement& placement, const ResourceRequest& demand);
/// Whether GPUs come with the nodes, without being asked for.
bool gpus_come_with_nodes(const model::Site& site);

} // namespace hpcml::site_rules
