// SPDX-License-Identifier: MIT
// A job in the queue of Slurm.
#pragma once

#include <string>
#include <vector>

namespace hpcml::cli {

/// A job that Slurm has accepted.
struct AcceptedBatchJob {
  std::string id;
  std::string cluster; ///< the cluster that sbatch reported, of several; else empty
  std::string name;
  std::string log; ///< absolute; of an array with * for the task
  bool array = false;
  std::vector<std::string> after; ///< the jobs that it waits for
  std::string work_dir = {};      ///< directory that the script starts in, if known
};

/// Returns a command as it must be written to reach the job's cluster: "SLURM_CLUSTERS=gh scancel".
inline std::string reach(const AcceptedBatchJob& job, const std::string& verb) {
  return (job.cluster.empty() ? "" : "SLURM_CLUSTERS=" + job.cluster + " ") + verb;
}

} // namespace hpcml::cli
