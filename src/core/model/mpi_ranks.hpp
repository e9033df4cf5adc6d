// SPDX-License-Identifier: MIT
// Variables with which MPI's launchers set the rank of a task, for sites whose profile does not list them.
#pragma once

#include <array>

namespace hpcml::model {

/// Names; an empty one: the launcher says no such thing.
struct RankVariables {
  const char* rank;
  const char* local_rank;
  const char* world_size;
  const char* local_size; ///< ranks on the same node
  const char* world;      ///< a name that all ranks of one start share, and no other start
};

/// Slurm's own variables are not help under these launchers: where they start one agent per node by srun, all
/// tasks of a node inherit the same SLURM_PROCID.
inline constexpr std::array<RankVariables, 4> k_mpi_ranks = {
    {{"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "MPI_LOCALNRANKS", ""}, // MPICH, Intel MPI
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
      "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
     {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE",
      ""},
     {"PMIX_RANK", "", "", "", "PMIX_NAMESPACE"}}};

} // namespace hpcml::model
