// SPDX-License-Identifier: MIT
// Whose the variables of an environment are.
#include <catch2/catch.hpp>

#include "core/slurm/variables.hpp"

using namespace hpcml::slurm;

TEST_CASE("a variable is a job's, a person's default for a command, every client's, or nothing to Slurm") {
  const std::pair<const char*, VariableUse> cases[] = {{"SLURM_JOB_ID", VariableUse::job},
                                                       {"SLURMD_NODENAME", VariableUse::job},
                                                       {"SRUN_CPUS_PER_TASK", VariableUse::job},
                                                       {"PMI_RANK", VariableUse::job},
                                                       {"PMIX_NAMESPACE", VariableUse::job},
                                                       {"OMPI_COMM_WORLD_SIZE", VariableUse::job},
                                                       {"SBATCH_PARTITION", VariableUse::command},
                                                       {"SALLOC_QOS", VariableUse::command},
                                                       {"SQUEUE_USERS", VariableUse::command},
                                                       {"SLURM_JSON", VariableUse::command},
                                                       {"SLURM_CONF", VariableUse::client},
                                                       {"SLURM_CLUSTERS", VariableUse::client},
                                                       {"PATH", VariableUse::none},
                                                       {"SLURM", VariableUse::none},
                                                       {"HPCML_SITE", VariableUse::none},
                                                       {"", VariableUse::none}};
  for (const auto& [name, use] : cases) {
    CAPTURE(name);
    CHECK(use_of_variable(name) == use);
  }
}
