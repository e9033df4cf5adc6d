// SPDX-License-Identifier: MIT
// Limits and shares: which holds, and whose it is.
#pragma once

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "core/model/site.hpp"

namespace hpcml::site_rules {

/// The longest a job of this many nodes and GPUs may run in a partition.
model::Known<model::Walltime> time_limit(const model::Partition& partition, unsigned nodes, unsigned gpus);

/// A limit of the QoS, or the partition's where the QoS states none. Either may be missing.
template <class T>
const model::Known<T>& limit_of(const model::Qos* qos, const model::Partition* partition,
                                model::Known<T> model::Limits::*which) {
  static const model::Known<T> k_none;
  if (qos && qos->*which) return qos->*which;
  return partition ? partition->*which : k_none;
}

/// Whose limit that is: "QoS long", "partition gpu", the site.
template <class T>
std::string limit_owner(const model::Site& site, const model::Qos* qos, const model::Partition* partition,
                        model::Known<T> model::Limits::*which) {
  if (qos && qos->*which) return "QoS " + qos->name;
  return partition && partition->nameable ? fmt::format("partition {}", partition->name) : site.name;
}

/// True if jobs of the QoS (none: any) can be in the partition, as far as the profile shows.
bool is_place_of(const model::Qos* qos, const std::string& partition);
/// The QoS that a job in the partition gets when it names none; nothing where the profile names none.
const model::Qos* default_qos(const model::Site& site, const std::string& partition);

/// Cores of a node that a job can have.
unsigned usable_cores(const model::NodeType& node);
/// True if the site does not give `requested` where the share is `share`: over a share that is the most, or
/// other than a fixed one.
template <class T> bool breaks_share(const model::NodeType& node, const T& requested, const T& share) {
  return (node.share_policy == model::CpusPerGpuPolicy::max && requested > share) ||
         (node.share_policy == model::CpusPerGpuPolicy::fixed && requested != share);
}

/// What is wrong with a number of GPUs: it is none of those that the site lists, a part of one of several
/// nodes, or no multiple of what it gives.
enum class GpuCountFault { not_listed, part_of_nodes, not_multiple };
/// The faults of this many GPUs on each of this many nodes. `per_node`: GPUs of a node, 0 if unknown.
std::vector<GpuCountFault> gpu_count_faults(const model::GpuRequestRule& rule, unsigned nodes,
                                            unsigned gpus_per_node, unsigned per_node);

} // namespace hpcml::site_rules
