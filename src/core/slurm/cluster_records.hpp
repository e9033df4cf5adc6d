// SPDX-License-Identifier: MIT
// What Slurm says of its partitions, nodes and configuration, as values. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/walltime.hpp"
#include "core/slurm/records.hpp"
#include "core/util/result.hpp"

namespace hpcml::slurm {

/// One entry of a node's Gres: "gpu:a100:4(S:0-1)".
struct GresRecord {
  std::string name; ///< "gpu", "shard", "nvme"
  std::string type; ///< "a100", "a100_3g.20gb", or empty
  unsigned long long count = 1;
};

/// The entries of a Gres text; "(null)" gives none. What does not read as an entry is omitted.
std::vector<GresRecord> read_gres_records(std::string_view text);

/// A partition, as scontrol shows it.
struct PartitionRecord {
  std::string name;
  std::string nodes; ///< hostlist, empty when it has none
  bool is_default = false;
  bool whole_nodes = false; ///< OverSubscribe=EXCLUSIVE, or Exclusive=NODE from 26.05
  bool up = true;           ///< takes and starts jobs
  bool root_only = false;
  std::optional<model::Walltime> max_time; ///< none: no separate limit
  std::optional<model::Walltime> default_time;
  std::optional<unsigned> max_nodes;
  unsigned min_nodes = 0;
  std::optional<unsigned> max_cpus_per_node;
  std::optional<unsigned> def_cpus_per_gpu; ///< from JobDefaults
  std::optional<unsigned long long> def_mem_per_gpu_mib;
  std::string qos; ///< the partition's own QoS, or empty
  std::vector<std::string> allow_accounts, deny_accounts, allow_qos, deny_qos; ///< empty: all, none
};

/// A node, as scontrol or sinfo shows it.
struct NodeRecord {
  std::string name;
  std::string arch; ///< empty while the node has not registered
  unsigned sockets = 1;
  unsigned cores_per_socket = 1;
  unsigned threads_per_core = 1;
  unsigned cpus = 0;                        ///< CPUTot
  unsigned long long memory_mib = 0;        ///< RealMemory
  unsigned long long system_memory_mib = 0; ///< MemSpecLimit: not for jobs
  unsigned reserved_cores = 0;              ///< CoreSpecCount
  std::string reserved_cpus; ///< CPUSpecList in Slurm's numbering, where threads of a core follow each other
  std::vector<std::string> features;
  std::vector<GresRecord> gres;
  std::vector<std::string> partitions;
  std::string state; ///< "IDLE", "DOWN*+DRAIN"
};

/// What `scontrol show config` says that matters to requests.
struct ConfigRecord {
  std::string cluster;
  std::string version;               ///< "22.05.8"
  bool has_accounting = false;       ///< slurmdbd is in use
  std::vector<std::string> enforced; ///< AccountingStorageEnforce: "associations", "limits", "qos", "safe"
  std::vector<std::string> submit_plugins; ///< rules that Slurm does not show: "lua"
};

/// Of `scontrol show partition`. Errors when the text has no partition at all.
util::Result<std::vector<PartitionRecord>> parse_partitions(std::string_view text);
/// Of `scontrol show node`. Errors when the text has no node at all.
util::Result<std::vector<NodeRecord>> parse_nodes(std::string_view text);
/// The command whose output parse_sinfo_nodes reads.
std::vector<std::string> sinfo_nodes_command();
/// Of sinfo, for sites that do not let users see nodes with scontrol: the same but the architecture and what
/// is reserved.
util::Result<std::vector<NodeRecord>> parse_sinfo_nodes(std::string_view text);
/// Of `scontrol show config`.
util::Result<ConfigRecord> parse_cluster_config(std::string_view text);

} // namespace hpcml::slurm
