// SPDX-License-Identifier: MIT
// The ranks that run on this node and what they really have, from /proc.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/model/id_set.hpp"
#include "core/topo/memory_policy.hpp"
#include "core/topo/node.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::topo {

/// Ranks of one node; a higher number in a variable is none of them.
constexpr unsigned k_most_ranks = 4096;

/// All processes and threads of one local rank.
struct LiveRank {
  unsigned local_rank = 0;
  unsigned pid = 0;                 ///< its lowest process
  model::IdSet cpus;                ///< CPUs of any of its threads
  std::vector<model::IdSet> others; ///< CPUs of threads that have others than the first one
  std::vector<std::string> devices; ///< entries of its visible-devices variable; empty: it sees all GPUs
  bool sees_all = true;             ///< no such variable is set
  std::string nic;                  ///< the only one that its variables let it use; empty: not known
  std::optional<MemoryPolicy> memory = {}; ///< unset: the kernel does not state
};

/// The ranks of one job that run on this node.
struct LiveRanks {
  std::vector<LiveRank> ranks;    ///< by number
  util::EnvSnapshot env;          ///< of the first one, which states how many were started
  std::vector<std::string> notes; ///< what was omitted, for users
};

/// The GPUs of each of the node's `count` local ranks, by index. Lists that differ are the ranks' own; of one
/// that all see each takes its part: `per_rank` GPUs, or as many as there are for it (0). A rank that has
/// gone counts as with its part of that list, or with GPUs that no other process has.
std::vector<std::vector<unsigned>> gpus_of_ranks(const Node& node, const std::vector<LiveRank>& ranks,
                                                 unsigned count, unsigned per_rank);

/// The single NIC that these variables leave to a program ("mlx5_0"); empty: none or several.
std::string only_nic(const util::EnvSnapshot& env);

/// Returns the ranks of the caller's job (outside a job: of all jobs). A rank has LOCAL_RANK, or
/// SLURM_LOCALID in a step without LOCAL_RANK; of several steps, that with most ranks is used. The caller,
/// its step, batch scripts and processes of other users are ignored. `own`: the caller's environment. Reads
/// below `root` ("/"; another one for tests).
LiveRanks read_live_ranks(const util::EnvSnapshot& own, const std::filesystem::path& root = "/");

} // namespace hpcml::topo
