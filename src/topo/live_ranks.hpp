// SPDX-License-Identifier: MIT
// The ranks that run on this node and the CPUs that their threads really have, from /proc.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/id_set.hpp"

namespace hpcml::topo {

/// All processes and threads of one local rank.
struct LiveRank {
  unsigned local_rank = 0;
  unsigned pid = 0;                 ///< its lowest process
  model::IdSet cpus;                ///< CPUs of any of its threads
  std::vector<model::IdSet> others; ///< CPUs of threads that have others than the first one
  std::vector<std::string> devices; ///< entries of its visible-devices variable; empty: it sees all GPUs
  bool sees_all = true;             ///< no such variable is set
};

/// Ranks of `job` (SLURM_JOB_ID; empty: of any), told by LOCAL_RANK, or by SLURM_LOCALID where nobody has the
/// first. Processes of other users stay unseen. Reads below `root` ("/"; another one for tests).
std::vector<LiveRank> read_live_ranks(const std::string& job, const std::filesystem::path& root = "/");

} // namespace hpcml::topo
