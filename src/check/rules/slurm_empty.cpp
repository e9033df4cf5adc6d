// SPDX-License-Identifier: MIT
// A script without any command.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_empty() {
  return {"slurm/empty",
          diag::Severity::error,
          "An empty script",
          "sbatch refuses a file that is empty or holds only blanks, before anything is queued; often the "
          "file was not written to "
          "the end, or the name is wrong.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
          {"", "\n", " \n\t\n\n"},
          {"#!/bin/bash\n", "#!/bin/bash\nsrun true\n", "#!/bin/sh\n#SBATCH --nodes=2\nsrun hostname\n"}};
}

} // namespace hpcml::check
