// SPDX-License-Identifier: MIT
// What one idle node gives to a job with GPUs, as select/cons_tres of each version counts. Its GPUs lie by no
// cores of their own.
#pragma once

#include <limits>

#include "gpu_fit.hpp"

namespace hpcml::slurm {

/// What one idle node offers to the job, narrowed step by step.
struct NodeOffer {
  long cpus = 0;
  long cores = 0;
  long gpus = 0;
  long most_gpus = 0; ///< that the job takes of a node; 0: not said
  long most_tasks = 0;
  long least_cpus = 0; ///< that its GPUs need
};

/// GPUs that the whole job is to have; those of its tasks count.
inline long gpus_of(const GpuJob& job) { return job.gpus > 0 ? job.gpus : job.gpus_per_task * job.tasks; }

/// Looks at one node for a job.
class GpuNode {
public:
  GpuNode(const GpuJob& job, const ClusterFacts& cluster, Version version)
      : j(job), c(cluster), x_version(version), x_threads(threads_in_use()) {}

  /// CPUs of a core that the job uses.
  long threads() const { return x_threads; }
  /// The whole node; false where it does not do.
  bool offer(NodeOffer& node) const { return offer_cores(node) && offer_gpus(node) && offer_memory(node); }
  /// The node with no more than its tasks and GPUs need, no CPUs where it cannot hold them. `first`: whether
  /// cores are sought by the GPUs; `rem_nodes`, `found`: nodes and GPUs of the job that are still to come,
  /// and that are there.
  void lay_by_gpus(NodeOffer& node, long rem_nodes, bool first, long found) const;

private:
  struct Range {
    long least = 1;
    long most = std::numeric_limits<long>::max(); ///< as many as there are
  };
  /// What is known while tasks are laid by GPUs.
  struct Lay {
    Range tasks;
    long gpus = 0; ///< that the node gives
    long cpus_per_gpu = 0;
  };

  bool from(Version version) const { return x_version >= version; }
  long cores_there() const { return static_cast<long>(c.sockets) * c.cores_per_socket; }
  long threads_in_use() const;
  bool offer_cores(NodeOffer& node) const;
  void take_cores(long cpus, NodeOffer& node) const;
  bool offer_gpus(NodeOffer& node) const;
  bool offer_memory(NodeOffer& node) const;
  long requested_cpus_per_gpu() const;
  Range tasks_of_node(const NodeOffer& node) const;
  Range tasks_by_gpus() const;
  long cpus_of_gpu(bool first) const;
  long most_gpus(const NodeOffer& node, long rem_nodes, const Range& tasks, long found) const;
  bool count_gpus(const NodeOffer& node, long most, Lay& lay) const;
  void limit_by_cpus(Lay& lay) const;
  void limit_by_tasks(Lay& lay) const;
  long count_cores(const NodeOffer& node, Lay& lay) const;
  void drop_cores(NodeOffer& node, long kept, long per_core) const;
  bool keep_cores(NodeOffer& node, long cores, const Lay& lay) const;

  const GpuJob& j;
  const ClusterFacts& c;
  Version x_version;
  long x_threads;
};

} // namespace hpcml::slurm
