// SPDX-License-Identifier: MIT
// Whose the variables of an environment are.
#include <catch2/catch.hpp>

#include "core/slurm/variables.hpp"

using namespace hpcml::slurm;

TEST_CASE("a variable is a job's, a person's default for a command, every client's, or nothing to Slurm") {
  const std::pair<const char*, SlurmVariableKind> cases[] = {{"SLURM_JOB_ID", SlurmVariableKind::job},
                                                             {"SLURMD_NODENAME", SlurmVariableKind::job},
                                                             {"SRUN_CPUS_PER_TASK", SlurmVariableKind::job},
                                                             {"PMI_RANK", SlurmVariableKind::job},
                                                             {"PMIX_NAMESPACE", SlurmVariableKind::job},
                                                             {"OMPI_COMM_WORLD_SIZE", SlurmVariableKind::job},
                                                             {"SBATCH_PARTITION", SlurmVariableKind::command},
                                                             {"SALLOC_QOS", SlurmVariableKind::command},
                                                             {"SQUEUE_USERS", SlurmVariableKind::command},
                                                             {"SLURM_JSON", SlurmVariableKind::command},
                                                             {"SLURM_CONF", SlurmVariableKind::client},
                                                             {"SLURM_CLUSTERS", SlurmVariableKind::client},
                                                             {"PATH", SlurmVariableKind::none},
                                                             {"SLURM", SlurmVariableKind::none},
                                                             {"HPCML_SITE", SlurmVariableKind::none},
                                                             {"", SlurmVariableKind::none}};
  for (const auto& [name, use] : cases) {
    CAPTURE(name);
    CHECK(classify_variable(name) == use);
  }
}
