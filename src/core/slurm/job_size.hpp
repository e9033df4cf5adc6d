// SPDX-License-Identifier: MIT
// How large the job is that a request makes: nodes, tasks, CPUs, GPUs, memory, as sbatch and the controller
// count.
#pragma once

#include <cstdint>
#include <optional>

#include "core/slurm/job_request.hpp"

namespace hpcml::slurm {

/// How large a job is, as Slurm makes it from the options.
struct JobSize {
  long min_nodes = 1;
  long max_nodes = 0; ///< 0: any
  bool nodes_given = false;
  long tasks = 1;
  long tasks_known = 0;    ///< as sbatch computes them; 0 where only the controller does
  long tasks_per_node = 0; ///< 0: not given and not implied
  long cpus_per_task = 1;
  long cpus = 1;                   ///< of the whole job
  long cpus_per_node = 0;          ///< the least that one node must offer; 0: no demand
  std::uint64_t gpus = 0;          ///< of the whole job
  std::uint64_t gpus_per_node = 0; ///< the most that one node must offer
  std::uint64_t gpus_per_task = 0;
  long threads_per_core = 0; ///< 0: any; -1: a 0 that was asked for
  long cores_per_socket = 0;
  long sockets_per_node = 0;

  /// Whether the job has one number of nodes, and has nodes.
  bool has_exact_nodes() const { return nodes_given && min_nodes > 0 && min_nodes == max_nodes; }
};

/// The number of an option as it is sent, in 16 bits, of which 65534 says that nothing was asked for: 0.
long sent_count(const JobOptions& request, std::string_view option);

/// A list of nodes as Slurm takes it: spaces part names as well, and commas at the end count for nothing.
std::string hostlist_text(std::string text);

/// How many distinct nodes --nodelist names; 0 without one or where it cannot be read.
long listed_nodes(const JobOptions& request);

/// Sockets, cores and threads alone, by options and by --hint.
JobSize geometry_of(const JobOptions& request);

/// `listed_nodes`: how many nodes --nodelist names (0 without one).
JobSize size_job(const JobOptions& request, ComparisonTrackingVersion version, long listed_nodes);

} // namespace hpcml::slurm
