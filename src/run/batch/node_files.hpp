// SPDX-License-Identifier: MIT
// Data and environments on the nodes' own disks: commands that put them there, and the one that removes them.
#pragma once

#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::batch {

/// In a script's environment: the directory of the job on each node's own disk.
inline constexpr const char* k_stage_variable = "HPCML_STAGE";

/// What `hpcml internal stage` puts into the directory.
struct StageRequest {
  std::vector<std::string> sources;   ///< files and directories to copy
  std::string archive;                ///< of an environment, unpacked in env/; empty: none
  std::vector<std::string> wheels;    ///< packages of a virtual environment in env/, from the site's wheels
  std::string requirements;           ///< file with such packages; empty: none
  std::string node_launcher = "srun"; ///< starts one task per node; others than srun as given
};

/// Name of the directory of one start of a job, in `base`.
std::string stage_directory(const std::string& base, unsigned restarts, const util::EnvSnapshot& env);

/// One task on each of some nodes of the job.
struct PerNodeStep {
  std::string launcher = "srun";       ///< others than srun are used as given
  std::vector<std::string> nodes = {}; ///< empty: those that run the program
  /// The tasks of other nodes continue when one fails, or its node.
  bool is_independent = false;
};

/// A command in such tasks. Reads the job's size and its healthy nodes from `env`. A step of srun shares the
/// nodes with other steps and takes no GPUs of a job that counts them in total.
std::vector<std::string> on_each_node(const PerNodeStep& step, const std::vector<std::string>& command,
                                      const util::EnvSnapshot& env);

/// Runs the commands that make the directory and fill it, with their output in the job's log. Errors name the
/// command that failed.
util::Status stage_files(const StageRequest& request, const util::EnvSnapshot& env);

/// Removes the directory on each node. Warns if that fails.
void remove_stage(const std::string& node_launcher, const util::EnvSnapshot& env);

} // namespace hpcml::batch
