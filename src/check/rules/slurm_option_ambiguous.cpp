// SPDX-License-Identifier: MIT
// A shortened option that could be several.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_option_ambiguous() {
  return {"slurm/option-ambiguous",
          diag::Severity::error,
          "A shortened option that could be several",
          "sbatch takes the beginning of an option's name only where it can be one option. New options of a "
          "new Slurm make short "
          "names ambiguous, and the script is refused from then on.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {"#!/bin/bash\n#SBATCH --nod=2\n", "#!/bin/bash\n#SBATCH --gpus-per=4\n",
           "#!/bin/bash\n#SBATCH --mem-p=4G\n"},
          {"#!/bin/bash\n#SBATCH --nodes=2\n", "#!/bin/bash\n#SBATCH --gpus-per-node=4\n",
           "#!/bin/bash\n#SBATCH --out=x.log\n"}};
}

} // namespace hpcml::check
