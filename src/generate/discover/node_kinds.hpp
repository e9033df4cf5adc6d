// SPDX-License-Identifier: MIT
// A cluster's nodes sorted into kinds. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/model/id_set.hpp"
#include "core/slurm/cluster_records.hpp"

namespace hpcml::discover {

/// Nodes that differ in nothing that a request can ask for.
struct NodeKind {
  std::string id;   ///< "a100x4", "cpu64"
  std::string arch; ///< empty: no node of the kind has registered
  unsigned sockets = 1;
  unsigned cores = 1; ///< of the node
  unsigned threads_per_core = 1;
  unsigned long long memory_mib = 0; ///< what jobs can have on every node of the kind
  unsigned reserved_cores = 0;
  model::IdSet reserved; ///< in Slurm's numbering: threads of a core follow each other
  unsigned gpus = 0;
  std::string gpu_type;
  std::vector<slurm::GresRecord> other_gpus; ///< slices and second types
  std::vector<std::string> nodes;
  std::vector<std::string> features;   ///< of all nodes of the kind
  std::vector<std::string> partitions; ///< of any of its nodes
  bool in(const std::string& partition) const {
    return std::find(partitions.begin(), partitions.end(), partition) != partitions.end();
  }
};

/// The kinds in the order in which their first nodes appear; ids are unique.
/// Nodes of one shape whose memory differs by less than a twentieth are one kind.
std::vector<NodeKind> make_node_kinds(const std::vector<slurm::NodeRecord>& nodes);

/// Reserved CPUs as the operating system numbers them where thread t of core c is CPU c + t * cores.
model::IdSet usual_numbering(const model::IdSet& slurm_ids, unsigned cores, unsigned threads_per_core);

/// What host names have in common: "nid" and 6 for nid000001. Digits 0: they have no common form.
struct HostNamePattern {
  std::string prefix;
  unsigned digits = 0;
};
/// The form that all names have; empty where they have none in common.
HostNamePattern find_host_form(const std::vector<std::string>& names);

} // namespace hpcml::discover
