// SPDX-License-Identifier: MIT
// In which variables MPI's launchers tell a task its place, where no profile says it.
#pragma once

#include <array>

namespace hpcml::model {

/// Names; an empty one: the launcher says no such thing.
struct RankVariables {
  const char* rank;
  const char* local_rank;
  const char* world_size;
};

/// Slurm's own variables are no help under these launchers: where they start one agent per node by srun, all
/// tasks of a node inherit the same SLURM_PROCID.
inline constexpr std::array<RankVariables, 4> k_mpi_ranks = {
    {{"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"}, // MPICH, Intel MPI
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
     {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE"},
     {"PMIX_RANK", "", ""}}};

} // namespace hpcml::model
