// SPDX-License-Identifier: MIT
// Comments that silence rules and do not do so.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_check_disable() {
  return {"check/disable",
          diag::Severity::warning,
          "A comment that silences nothing",
          "A comment that silences a rule needs the rule's id and a reason, which is what the next reader "
          "asks for. One with a slip in its id, without a reason or on "
          "the wrong line silences nothing; one that has outlived its finding would hide the next.",
          "https://www.shellcheck.net/wiki/Ignore",
          {"#!/bin/bash\n#SBATCH --nodes=2\nsrun true # hpcml: disable=slurm/after-comand sbatch reads this "
           "file twice\n",
           "#!/bin/bash\nset -e\n# hpcml: disable=slurm/after-command\n#SBATCH --nodes=2\n",
           "#!/bin/bash\n# hpcml: disable=slurm/after-command the directives were below once\n#SBATCH "
           "--nodes=2\nsrun true\n",
           "#!/bin/bash\n# hpcml: disable-file=\nsrun true\n"},
          {"#!/bin/bash\nset -e\n# hpcml: disable=slurm/after-command kept for the list of old "
           "settings\n#SBATCH --nodes=2\n",
           "#!/bin/bash\n# hpcml: disable-file=slurm/after-command a wrapper reads the lines below\nset "
           "-e\n#SBATCH --nodes=2\n#SBATCH --time=10\n",
           "#!/bin/bash\n# hpcml writes this file\nsrun true\n"}};
}

} // namespace hpcml::check
