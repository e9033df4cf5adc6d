// SPDX-License-Identifier: MIT
// Which nodes a job omits at its next start: those that it excluded already, and those that were found bad.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/node_health/bad_node_file.hpp"
#include "core/util/result.hpp"

namespace hpcml::slurm {

/// What Slurm says of the job and of the nodes that it may get.
struct NodeCandidates {
  std::vector<std::string> excluded; ///< by the job
  std::vector<std::string> required; ///< by the job's --nodelist
  std::vector<std::string> nodes;    ///< of its partition
  std::vector<std::string> usable;   ///< of these, those that are neither down nor drained
  unsigned needed = 1;               ///< how many nodes the job has
};

struct ExcludeListUpdate {
  std::vector<std::string> exclude;     ///< the job's whole list from now on; empty: nothing changes
  std::vector<std::string> words;       ///< a sentence for each node, for messages
  std::vector<std::string> before = {}; ///< the list until now
};

/// Of `scontrol -o show job ID` and `sinfo -h -N -p PARTITION -o "%N %t"`. Errors where the job is not known.
util::Result<NodeCandidates> parse_choice(std::string_view job, std::string_view nodes);
/// The partition of `scontrol -o show job ID`; empty where it says none.
std::string partition_of(std::string_view job);

/// Nodes that the job excludes already are not reported again. What its partition does not know, what the job
/// names in --nodelist, and what would leave it too few nodes, is not omitted, and that is reported.
ExcludeListUpdate leave_out(const std::vector<node_health::BadNode>& bad, const NodeCandidates& choice);

} // namespace hpcml::slurm
