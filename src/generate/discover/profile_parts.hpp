// SPDX-License-Identifier: MIT
// The parts of a discovered profile that describe nodes and partitions; used by profile.cpp only.
#pragma once

#include "core/config/json_tree.hpp"
#include "core/config/text_rule.hpp"
#include "generate/discover/generated_profile.hpp"
#include "generate/discover/gpu_architecture.hpp"

namespace hpcml::discover {

/// Whether a profile can hold the text as a name.
inline bool is_name(const std::string& text) {
  return config::text_fault(text, config::TextRule::name).empty();
}

/// The GPUs' maker: by their type in GRES, by the kind's features, by the tool that works where the questions
/// were asked.
GpuArchitecture gpu_vendor(const ClusterFacts& facts, const NodeKind& kind);

/// A node type as an entry of "node_types".
config::JsonNode make_node_type(const ClusterFacts& facts, const NodeKind& kind,
                                const ProfileGenerationInput& request, const std::string& source);
/// A partition as an entry of "partitions".
config::JsonNode make_partition(const ClusterFacts& facts, const slurm::PartitionRecord& partition,
                                const std::vector<NodeKind>& kinds, const ProfileGenerationInput& request,
                                const std::string& source);

} // namespace hpcml::discover
