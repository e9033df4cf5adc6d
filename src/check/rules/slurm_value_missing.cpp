// SPDX-License-Identifier: MIT
// An option at the end of a directive without the value that it needs.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_value_missing() {
  return {"slurm/value-missing",
          diag::Severity::error,
          "An option without its value",
          "The last option of the directives has no value: sbatch stops with \"option requires an "
          "argument\". Where more directives "
          "follow, the next word is taken as the value, whatever it is.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {"#!/bin/bash\n#SBATCH --nodes\n", "#!/bin/bash\n#SBATCH -N 2 -t\n",
           "#!/bin/bash\n#SBATCH --account # to be filled in\nsrun true\n"},
          {"#!/bin/bash\n#SBATCH --nodes 2\n", "#!/bin/bash\n#SBATCH --exclusive\n",
           "#!/bin/bash\n#SBATCH --requeue\n"}};
}

} // namespace hpcml::check
