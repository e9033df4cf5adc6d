// SPDX-License-Identifier: MIT
// GPUs (and other gres) of a request against its tasks and nodes, as sbatch and the controller compare them
// before they take a job.
#pragma once

#include <optional>
#include <string>

#include "core/slurm/job_request.hpp"

namespace hpcml::slurm {

/// What sbatch sends of the job's size; nothing where it leaves a number to the controller.
struct JobDescriptorCounts {
  std::optional<long> tasks;
  std::optional<long> min_nodes;
  std::optional<long> max_nodes;
  std::optional<long> tasks_per_node;
  std::optional<long> tasks_per_socket;
  std::optional<long> sockets_per_node;
  std::optional<long> cpus_per_task;
};

/// The numbers as sbatch has them before it lets tasks and nodes limit each other.
struct RequestedCounts {
  long tasks = 1;
  bool tasks_set = false;
  long min_nodes = 1;
  long max_nodes = 0; ///< 0: any
  bool nodes_set = false;

  bool is_exact() const { return max_nodes == 0 || min_nodes == max_nodes; }
};

RequestedCounts count_written(const JobOptions& request, ComparisonTrackingVersion version);

/// The numbers that follow from the options before GPUs are looked at.
JobDescriptorCounts count_sent(const JobOptions& request, ComparisonTrackingVersion version);

/// Why a job is refused, at the option that is to be changed.
struct GresRefusal {
  std::string option;
  std::string code; ///< after "slurm/"
  std::string message;
  std::string hint;
};

/// Compares the request's gres with each other and with `counts`, which gets what follows from them.
std::optional<GresRefusal> check_gres(const JobOptions& request, ComparisonTrackingVersion version,
                                      JobDescriptorCounts& counts);

} // namespace hpcml::slurm
