// SPDX-License-Identifier: MIT
// The old name of hetjob.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_packjob {

std::vector<Edit> fix(const Subject&, diag::Place place) { return {{place.offset, place.length, "hetjob"}}; }

} // namespace slurm_packjob

Rule rule_slurm_packjob() {
  using namespace slurm_packjob;
  return {"slurm/packjob",
          diag::Severity::warning,
          "packjob is called hetjob now",
          "Heterogeneous jobs were called pack jobs before Slurm 20.02. sbatch still takes the word, with a "
          "warning, and may stop "
          "to.",
          "https://slurm.schedmd.com/heterogeneous_jobs.html",
          {"#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH packjob\n#SBATCH --nodes=2\n",
           "#!/bin/bash\n#SBATCH -n1\n#SBATCH PACKJOB\n#SBATCH -n2\n",
           "#!/bin/bash\n#SBATCH -n1\n#SBATCH packjob # the rest\n#SBATCH -n2\nsrun true\n"},
          {"#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH hetjob\n#SBATCH --nodes=2\n",
           "#!/bin/bash\n#SBATCH --job-name=packjob\n",
           "#!/bin/bash\n#SBATCH --nodes=1\n# packjob\nsrun true\n"},
          nullptr,
          fix};
}

} // namespace hpcml::check
