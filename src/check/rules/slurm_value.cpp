// SPDX-License-Identifier: MIT
// A value that sbatch does not take for its option.
#include "check/rule.hpp"
#include "check/value_fix.hpp"

namespace hpcml::check {
namespace slurm_value {

std::vector<Edit> fix(const Subject& subject, diag::Place place) { return fix_value(subject, place); }

} // namespace slurm_value

Rule rule_slurm_value() {
  using namespace slurm_value;
  return {"slurm/value",
          diag::Severity::error,
          "A value that sbatch does not take",
          "sbatch reads most values itself and stops at one that it does not understand: \"Invalid node "
          "count\", \"Invalid numeric "
          "value\". A '=' behind a short option (-N=2) is part of its value.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {"#!/bin/bash\n#SBATCH -N=2\n", "#!/bin/bash\n#SBATCH --nodes = 2\n",
           "#!/bin/bash\n#SBATCH --nodes=two\n", "#!/bin/bash\n#SBATCH -ntasks=8\n",
           "#!/bin/bash\n#SBATCH --ntasks=8;\n", "#!/bin/bash\n#SBATCH --mail-type=ALWAYS\n"},
          {"#!/bin/bash\n#SBATCH -N 2\n", "#!/bin/bash\n#SBATCH --nodes=2-4\n",
           "#!/bin/bash\n#SBATCH --ntasks=8\n#SBATCH --mail-type=END,FAIL\n"},
          nullptr,
          fix};
}

} // namespace hpcml::check
