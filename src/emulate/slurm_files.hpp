// SPDX-License-Identifier: MIT
// The configuration of a private Slurm that is shaped like a site: pure text, no daemon needed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "emulate/cluster_layout.hpp"
#include "emulate/fault_spec.hpp"

namespace hpcml::emulate {

/// Where the files will be and who runs the daemons.
struct SlurmFileOptions {
  std::string state_dir; ///< absolute, without spaces
  unsigned uid = 0;      ///< the user who runs slurmctld and slurmd
  bool job_policy =
      true; ///< job_submit.lua and cli_filter.lua; false where Slurm was built without its Lua plugin
  bool accounting = false;               ///< a slurmdbd keeps records, accounts and QoS
  bool enforced = false;                 ///< and Slurm holds jobs to them
  std::string evaluate_command = {};     ///< asks the site rules about the job in the file named after it
  std::vector<ClusterFault> faults = {}; ///< what is to go wrong
  bool whole_sockets = false; ///< Slurm takes the cores near a GPU by whole sockets only (24.11 and later)
  bool limits_jobs = false;   ///< groups limit the memory or devices of jobs, as cgroup_conf says
  std::string cgroup_conf = {};
};

/// File name (below the state directory) to text: slurm.conf, login.conf (the same for commands on the login
/// node), gres.conf, cgroup.conf, job_submit.lua, cli_filter.lua, hosts.
std::map<std::string, std::string> make_slurm_files(const model::Site& site, const ClusterLayout& layout,
                                                    const SlurmFileOptions& options);

/// Whether the site's Slurm counts its GPUs: jobs ask for them, or at least their steps may.
bool counts_gpus(const model::Site& site);

/// What slurmd takes for detected GPUs (fake_gpus.conf): a node's GPUs or their parts. Only of these it knows
/// the UUID of a part, by which jobs see it. `whole_sockets` as above.
std::string make_detected_gpus(const model::Site& site, const ClusterNode& node, const std::string& state_dir,
                               bool whole_sockets);

/// The devices that Slurm manages on the node: GPUs or their parts.
unsigned count_devices(const ClusterNode& node);

/// The node's GPU device files, which must be character devices for Slurm to set the GPU variables.
std::string gpu_device_path(const std::string& state_dir, unsigned gpu);

} // namespace hpcml::emulate
