// SPDX-License-Identifier: MIT
// A script that sbatch only ever tries and never submits.
#include "check/fix.hpp"
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_test_only {

Hits find(const Subject& subject) {
  const auto* setting = subject.directive("test-only");
  if (!setting || setting->place.length == 0) return {};
  Hit hit{setting->place, "with --test-only in the script no job is ever made",
          "give it on the command line when you want to try"};
  hit.fix = {remove_option(subject.text, setting->place)};
  return {hit};
}

} // namespace slurm_test_only

Rule rule_slurm_test_only() {
  using namespace slurm_test_only;
  return {"slurm/test-only",
          diag::Severity::warning,
          "--test-only in a directive",
          "The option works in directives, too: sbatch says when the job could start and makes none. Nothing "
          "runs, and sbatch ends "
          "with success.",
          "https://slurm.schedmd.com/sbatch.html#OPT_test-only",
          {"#!/bin/bash\n#SBATCH --test-only\nsrun true\n", "#!/bin/bash\n#SBATCH --nodes=2 --test-only\n",
           "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --test-only # remove later\n"},
          {"#!/bin/bash\n#SBATCH --nodes=2\n", "#!/bin/bash\nsrun --test-only true\n",
           "#!/bin/bash\n##SBATCH --test-only\n"},
          find};
}

} // namespace hpcml::check
