// SPDX-License-Identifier: MIT
// A NUL character in the script, as text of another encoding has it.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_nul() {
  return {"slurm/nul",
          diag::Severity::error,
          "NUL character in the script",
          "sbatch refuses a script with a NUL byte. A text saved as UTF-16 has one in every second place, "
          "and so has a binary that "
          "was given instead of a script.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
          {"#!/bin/bash\necho a\0b\n", "#!/bin/bash\n#SBATCH --nodes=2\n\0",
           "#!/bin/bash\n\0#SBATCH --nodes=2\nsrun true\n"},
          {R"(#!/bin/bash
printf 'a\0b'
)",
           "#!/bin/bash\necho \"gr\303\274n\"\n",
           R"(#!/bin/bash
tr '\0' '\n' < list
)"}};
}

} // namespace hpcml::check
