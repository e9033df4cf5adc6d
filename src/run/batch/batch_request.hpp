// SPDX-License-Identifier: MIT
// What a generated script asks of `hpcml internal batch`.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/model/retry_classes.hpp"
#include "core/model/save_signal.hpp"

namespace hpcml::batch {

/// How the ranks' programs get the request to save.
enum class SaveSignalRoute {
  launch, ///< hpcml launch of each rank delivers it to the processes that handle the signal
  step,   ///< Slurm delivers the signal to the tasks of the step
};

struct BatchRequest {
  std::string hpcml;                ///< path of this program, which checks spare nodes
  std::vector<std::string> command; ///< the shell, the script and its arguments

  std::chrono::seconds save_before{0}; ///< before the time limit; 0: the ranks are not asked to save
  model::SaveSignal save_signal;
  SaveSignalRoute save_route = SaveSignalRoute::launch;

  bool requeues = false;
  unsigned max_requeues = 0;
  model::RetryClasses requeue_on;
  bool is_expedited = false; ///< Slurm holds such a job in the queue if it fails, instead of ending it
  std::string submit_command = "sbatch";
  std::string chain_first;     ///< first job of the chain that this job belongs to; empty: none
  unsigned chain_position = 0; ///< jobs before this one in the chain

  std::string checkpoint_dir; ///< each job has a directory in it; empty: none
  std::string log_dir;        ///< of the agents' run records; empty: none

  unsigned program_nodes = 0; ///< of a job with spare nodes: how many run the program; 0: all of them
  unsigned gpus_per_node = 0; ///< that a healthy node shows

  std::string stage_dir;              ///< place on each node's disk for a directory of the job; empty: none
  std::string node_launcher = "srun"; ///< starts one task per node

  bool needs_secret = false;  ///< the ranks need the job's key
  bool serves_store = false;  ///< the ranks need a rendezvous store
  std::string host;           ///< name of this node for the ranks; empty: SLURMD_NODENAME
  std::string interface;      ///< interface of this node at which the ranks connect; empty: any
  bool resolves_host = false; ///< `host` is resolved to an IPv4 address here
};

} // namespace hpcml::batch
