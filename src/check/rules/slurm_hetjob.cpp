// SPDX-License-Identifier: MIT
// A separator of components that stands behind an option.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_hetjob() {
  return {"slurm/hetjob",
          diag::Severity::warning,
          "hetjob without a line of its own",
          "Only a directive that begins with the word separates components; behind an option it is dropped, "
          "and the options of both "
          "components become one job's, where the last one wins.",
          "https://slurm.schedmd.com/heterogeneous_jobs.html",
          {"#!/bin/bash\n#SBATCH --nodes=2 hetjob\n", "#!/bin/bash\n#SBATCH -n1 hetjob -n2\n",
           "#!/bin/bash\n#SBATCH --nodes=2 packjob\n#SBATCH --nodes=1\nsrun true\n"},
          {"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH hetjob\n#SBATCH --nodes=1\n",
           "#!/bin/bash\n#SBATCH --nodes=2 # hetjob\n", "#!/bin/bash\n#SBATCH --job-name=hetjob\n"}};
}

} // namespace hpcml::check
