// SPDX-License-Identifier: MIT
// Which nodes an emulated cluster has, what they are called and how they reach each other.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/result.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// What a user asked `hpcml emulate` for.
struct ClusterRequest {
  std::string partition;   ///< chooses the node types; empty: the site's default
  unsigned nodes = 1;      ///< of each kind, or all that the site has
  bool whole_site = false; ///< all nodes of all partitions, none of which runs: for sbatch --test-only
  std::string node_type =
      {}; ///< an id, a type of GPUs or of their parts, or a feature; empty: all of the partition's kinds
};

/// One node that runs.
struct ClusterNode {
  std::string name;
  const model::NodeType* type = nullptr;
  bool slices = false; ///< with the GPUs' parts in place of the GPUs
  std::string address; ///< of its first interface; "127.0.0.1" where nodes share loopback
  unsigned port = 0;   ///< slurmd's
  std::vector<SandboxInterface> interfaces; ///< empty where nodes share loopback
};

/// Nodes of one kind that Slurm knows of and that no machine runs.
struct DormantNodes {
  const model::NodeType* type = nullptr; ///< none: the profile does not know what they are; they are in all
                                         ///< partitions of which that is true
  std::string names;                     ///< as a hostlist: "nid[000001-002978]"
  bool slices = false;                   ///< with the GPUs' parts in place of the GPUs
  bool cpu_only =
      false; ///< of nodes that the profile does not describe: those of its partitions without GPUs
};

/// An emulated cluster: some nodes of each kind that a partition has, and a login node.
struct ClusterLayout {
  const model::Partition* partition = nullptr;
  const model::NodeType* type = nullptr; ///< the first kind
  std::string login_name = "login1";
  std::string login_address;
  std::vector<SandboxInterface> login_interfaces;
  unsigned controller_port = 6817;
  std::vector<ClusterNode> nodes;
  std::string name_suffix;       ///< a node's name with this after it leads to the node as well; empty: none
  std::string default_partition; ///< the one that jobs get when they name none; empty where they must
  std::vector<DormantNodes> dormant; ///< of the whole site; then there are no others
  bool is_whole_site() const { return !dormant.empty(); }
};

/// The nodes that run in order, those of one kind together.
std::vector<std::vector<const ClusterNode*>> group_by_kind(const ClusterLayout& layout);

/// Fails on an unknown partition ("did you mean"), on no nodes and on more nodes than the site has. `site`
/// must outlive the layout.
util::Result<ClusterLayout> make_cluster_layout(const model::Site& site, const ClusterRequest& request);

/// The default partition of a whole site where the profile knows none.
inline constexpr const char* k_unknown_partition = "unknown";
/// Nodes of which the profile knows nothing, as hostlists: with GPUs, and without.
inline constexpr const char* k_unknown_nodes = "unknown[1-128]";
inline constexpr const char* k_unknown_cpu_nodes = "unknown-cpu[1-128]";

/// The same cluster for a machine without network namespaces: all on loopback, distinguished by their ports.
ClusterLayout on_loopback(ClusterLayout layout, unsigned first_port);

/// Text of /etc/hosts for all hosts of the cluster: a node's name, also with the site's suffix, leads to the
/// address of its first interface, and each address to a name.
std::string render_hosts(const ClusterLayout& layout);

} // namespace hpcml::emulate
