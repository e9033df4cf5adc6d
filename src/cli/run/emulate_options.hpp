// SPDX-License-Identifier: MIT
// The options of hpcml emulate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "emulate/cluster_layout.hpp"
#include "emulate/slurm_build.hpp"

namespace hpcml::cli {

/// The options of the command line.
struct EmulateOptions {
  std::string site; ///< empty: that of the script
  emulate::ClusterRequest request;
  std::optional<unsigned> nodes; ///< of each type
  std::optional<unsigned> cpus_per_node;
  std::string gpus_per_node; ///< "4" or "a100:4"
  std::string mem_per_node;
  std::vector<std::string> accounts;
  std::string record_file;
  std::string logs_dir;
  std::string evaluated_job; ///< file of a submitted job that is only checked
  emulate::SlurmChoice slurm;
  std::vector<std::string> faults; ///< faults to inject, as given on the command line
  bool submits = false;            ///< this process runs on the login node and only submits the script
  bool accounting = false;
  bool limit_memory = false;  ///< jobs cannot use more memory than they requested
  bool limit_devices = false; ///< tasks can only open their own GPUs
  bool shared_network = false;
  bool quiet = false;
};

/// Runs the command and returns its exit code.
int run_emulate(const EmulateOptions& options, const Context& context);

} // namespace hpcml::cli
