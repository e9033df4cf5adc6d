// SPDX-License-Identifier: MIT
// A site profile from what a cluster said of itself. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/node_shape.hpp"
#include "core/model/site.hpp"
#include "core/util/env_snapshot.hpp"
#include "generate/discover/cluster_facts.hpp"
#include "generate/discover/node_kinds.hpp"
#include "generate/discover/trials.hpp"

namespace hpcml::discover {

/// What the user and the machine add to what Slurm said.
struct ProfileGenerationInput {
  std::string id;                      ///< empty: made from the cluster's name
  std::string date;                    ///< YYYY-MM-DD
  std::vector<std::string> host_names; ///< of the machine that asks
  util::EnvSnapshot env; ///< of the user who asks: variables that hold the cluster's name recognise it
  std::map<std::string, model::NodeType>
      topologies;               ///< node type → its CPUs and GPU places, as one node showed them
  std::string topology_source;  ///< where they were read
  DiscoveredSbatchRules trials; ///< what tested requests showed; without any, nothing
};

/// A profile and what it could not say.
struct GeneratedProfile {
  std::string id;
  std::string text;                  ///< JSON, valid under sites/schema.json
  std::vector<std::string> left_out; ///< what the cluster has and a profile cannot say, for users
};

/// The profile of a cluster.
GeneratedProfile make_profile(const ClusterFacts& facts, const std::vector<NodeKind>& kinds,
                              const ProfileGenerationInput& request);

/// The cluster's name as a profile's id: lower case, letters, digits and _ . - only; "cluster" where nothing
/// is left.
std::string make_site_id(const std::string& cluster_name);

/// The limits that hold in a partition: its own and those of its QoS.
struct PartitionLimits {
  std::optional<model::Walltime> max_time;
  std::optional<unsigned> max_nodes;
  std::string note; ///< which of them is the QoS's
};
/// The limits of a partition, its own QoS included.
PartitionLimits find_limits(const slurm::PartitionRecord& partition,
                            const std::map<std::string, slurm::QosRecord>& qos);

/// Whether the cluster's Slurm starts no job without an account: associations are enforced and there is no
/// default.
bool needs_account(const ClusterFacts& facts);

} // namespace hpcml::discover
