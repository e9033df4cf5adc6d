// SPDX-License-Identifier: MIT
// Whose a variable of the environment is: what must not go from one job, or from a user's settings, into
// another.
#pragma once

#include <string_view>

namespace hpcml::slurm {

/// What a variable is to Slurm.
enum class SlurmVariableKind {
  none,    ///< nothing
  job,     ///< Slurm or MPI set it in a job, for that job only: "SLURM_NTASKS", "PMI_RANK"
  command, ///< a user's default for an option or output of a command: "SBATCH_PARTITION", "SQUEUE_FORMAT"
  client,  ///< how all commands find their cluster and write times: "SLURM_CONF"
};
/// By the variable's name.
SlurmVariableKind classify_variable(std::string_view name);

} // namespace hpcml::slurm
