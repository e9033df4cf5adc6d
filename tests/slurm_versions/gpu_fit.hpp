// SPDX-License-Identifier: MIT
// Whether idle nodes that are all alike hold a job with GPUs, as select/cons_tres of each version tests it at
// submission.
#pragma once

#include "admission.hpp"

namespace hpcml::slurm {

inline long ceiling(long a, long b) { return (a + b - 1) / b; }

/// What the controller knows of a job when it looks for nodes. Zero: not asked for.
struct GpuJob {
  long tasks = 0;
  long min_nodes = 1;
  long max_nodes = 0; ///< within the partition
  long wanted_nodes = 1;
  long cpus = 1; ///< of the whole job
  long cpus_per_task = 1;
  long cpus_per_node = 0;
  long tasks_per_node = 0;
  long tasks_per_socket = 0;
  long tasks_per_core = 0;
  long threads_per_core = 0;
  long gpus = 0; ///< of the whole job
  long gpus_per_node = 0;
  long gpus_per_socket = 0;
  long gpus_per_task = 0;
  long cpus_per_gpu = 0;
  long tasks_per_gpu = 0;
  std::uint64_t memory_per_cpu = 0;
  std::uint64_t memory_per_gpu = 0;
  bool overcommit = false;
  bool whole_nodes = false;
  bool binds = false;  ///< --gres-flags=enforce-binding
  long plane_size = 0; ///< of --distribution=plane
  bool exact_nodes = false;
};

/// The job that a request makes; `most_nodes`: of its partition.
GpuJob gpu_job_of(const JobOptions& request, const JobSize& size, const ClusterFacts& cluster,
                  Version version, long most_nodes);

/// `nodes`: how many there are.
bool gpus_fit(const GpuJob& job, const ClusterFacts& cluster, long nodes, Version version);

} // namespace hpcml::slurm
