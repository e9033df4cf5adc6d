// SPDX-License-Identifier: MIT
// Whether a cluster takes a request at submission: what its controller knows by name, and what its nodes can
// hold.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/slurm/job_size.hpp"

namespace hpcml::slurm {

/// What sbatch looks at in a partition.
struct PartitionFacts {
  std::string name;
  std::optional<unsigned> max_minutes;
  std::optional<unsigned> max_nodes;
  bool whole_nodes = false; ///< a job has its nodes alone
};

/// The GPUs that the nodes of a partition have.
struct GpuFacts {
  std::string type;
  unsigned count = 0; ///< per node
};

/// What the controller of a cluster knows; every node is alike.
struct ClusterFacts {
  std::vector<std::string> nodes;
  unsigned sockets = 1;
  unsigned cores_per_socket = 1;
  unsigned threads_per_core = 1;
  std::uint64_t memory_mb = 0;
  std::uint64_t default_memory_per_cpu_mb = 0;
  std::optional<GpuFacts> gpus;
  std::vector<std::string> features;
  std::vector<PartitionFacts> partitions; ///< the default one first
  std::set<std::string> jobs;             ///< that a dependency may name
  std::set<std::string> files;            ///< that an option may name
  std::set<std::string> users;            ///< by name and by number; empty: not known
  std::set<std::string> groups;           ///< as users
  std::set<std::string> governors = {"OnDemand", "Performance", "UserSpace"}; ///< that a job may choose
  unsigned max_array_size = 1001;
  unsigned accounting_seconds = 30; ///< the longest time between samples of a job's use
  bool drained =
      false; ///< no node takes jobs: one that wants certain nodes waits, whatever it asks of their GPUs
  bool has_preemption = false;
  bool has_accounting = false; ///< a database that knows clusters

  long cpus() const { return static_cast<long>(sockets) * cores_per_socket * threads_per_core; }
};

/// Refusals of the controller at submission, as findings with codes "site/…".
void check_admission(const JobOptions& request, const JobSize& size, const ClusterFacts& cluster,
                     Version version, LocatedFindings& findings);

/// The partitions that the request names; the default one without a name; nullptr entries where there is no
/// such.
std::vector<const PartitionFacts*> partitions_of(const JobOptions& request, const ClusterFacts& cluster);

} // namespace hpcml::slurm
