// SPDX-License-Identifier: MIT
// hpcml emulate between its options and its run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "emulate/cluster_layout.hpp"
#include "emulate/slurm_build.hpp"

namespace hpcml::cli {

/// What stands on its command line.
struct EmulateOptions {
  std::string site; ///< empty: the one that the script names
  emulate::ClusterRequest request;
  std::optional<unsigned> nodes; ///< of each type
  std::optional<unsigned> cpus_per_node;
  std::string gpus_per_node; ///< "4" or "a100:4"
  std::string mem_per_node;
  std::vector<std::string> accounts;
  std::string record_file;
  std::string logs_dir;
  std::string evaluated_job; ///< a submitted job that is only to be judged, as a file
  emulate::SlurmChoice slurm;
  std::vector<std::string> faults; ///< what is to go wrong, as it was written
  bool submits = false;            ///< this process is on the login node, and only submits the script
  bool accounting = false;
  bool limit_memory = false;  ///< jobs get no more than they asked for
  bool limit_devices = false; ///< tasks may open no other GPUs than their own
  bool shared_network = false;
  bool quiet = false;
};

/// The whole command; its exit code.
int run_emulate(const EmulateOptions& options, const Context& context);

} // namespace hpcml::cli
