// SPDX-License-Identifier: MIT
// Brings an emulated cluster up, runs a command on its login node, takes it down.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "emulate/cluster_layout.hpp"
#include "emulate/fault_spec.hpp"
#include "emulate/node_directories.hpp"
#include "emulate/slurm_install.hpp"
#include "emulate/ssh_access.hpp"

namespace hpcml::emulate {

/// How a run reports its progress to the user. Called from the process that runs the cluster.
struct ProgressReporter {
  std::function<void(const std::string&)> progress; ///< what is being done; the next one replaces it
  std::function<void(const std::string&)> note;     ///< a sentence that stays
  std::function<void(const std::string&)> event;    ///< what happens to the cluster: said also to the quiet
  std::function<void(const util::Error&)> failure;
};

/// Everything that a run needs.
struct ClusterRunOptions {
  const model::Site* site = nullptr;
  ClusterLayout layout;
  SlurmInstall slurm;
  std::vector<std::string> accounts; ///< the user's, kept by a slurmdbd; empty: this Slurm asks for none
  std::optional<AccountingInstall> accounting; ///< by which jobs are recorded, with or without accounts
  bool keeps_accounts() const { return accounting.has_value(); }
  std::vector<std::string> command;
  std::string evaluate_command; ///< asks the site rules about a submitted job, for the shell
  util::EnvSnapshot env;        ///< the caller's
  std::string record_file;      ///< where the record goes at the end; empty: nowhere
  bool isolate_network = true;  ///< false: the nodes share this machine's loopback interface
  std::string logs_dir;         ///< where Slurm's logs go at the end; empty: nowhere
  ProgressReporter narrator;
  std::vector<ClusterFault> faults; ///< what goes wrong while the command runs
  bool limit_memory = false;        ///< jobs get no more than they asked for; a fault may need it as well
  bool limit_devices = false;       ///< tasks may open no other GPUs than their own
  /// By control groups.
  ConstrainedResources constrained_resources() const {
    return {limit_memory || needs_memory_limits(faults), limit_devices};
  }
  TemporaryDirectories temporary; ///< found when the run begins
  std::optional<SshAccess> ssh;   ///< what serves port 22 of the nodes; found when the run begins
};

/// Returns the exit code of the command; `failure_code` if the cluster could not be started, after the
/// narrator has reported why.
util::Result<int> run_cluster(const ClusterRunOptions& run, int failure_code);

/// The caller's environment as on the site's login node: nothing of another Slurm job, the stand-ins first in
/// PATH.
util::EnvSnapshot make_login_environment(const model::Site& site, const util::EnvSnapshot& caller,
                                         const std::string& state_dir, const std::string& user);

} // namespace hpcml::emulate
