// SPDX-License-Identifier: MIT
#include "core/slurm/variables.hpp"

#include "core/util/text.hpp"

namespace hpcml::slurm {

SlurmVariableKind classify_variable(std::string_view name) {
  for (const std::string_view own : {"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_TIME_FORMAT"})
    if (name == own) return SlurmVariableKind::client;
  for (const std::string_view own : {"SLURM_BITSTR_LEN", "SLURM_JSON", "SLURM_YAML"})
    if (name == own) return SlurmVariableKind::command;
  for (const std::string_view prefix : {"SBATCH_", "SALLOC_", "SINFO_", "SQUEUE_", "SCONTROL_", "SCANCEL_"})
    if (name.starts_with(prefix)) return SlurmVariableKind::command;
  for (const std::string_view prefix : {"SLURM_", "SLURMD_", "SRUN_", "PMI_", "PMIX_", "OMPI_COMM_WORLD_"})
    if (name.starts_with(prefix)) return SlurmVariableKind::job;
  return SlurmVariableKind::none;
}

} // namespace hpcml::slurm
