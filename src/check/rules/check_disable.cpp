// SPDX-License-Identifier: MIT
// Comments that silence rules and do not do so.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_check_disable() {
  return {"check/disable",
          diag::Severity::warning,
          "A comment that ignores no finding",
          "A comment that ignores a rule needs the rule's id and a reason, which is what the next reader "
          "asks for. One with a typo in its id, without a reason or on the wrong line ignores nothing; one "
          "that has outlived its finding would hide the next.",
          "https://www.shellcheck.net/wiki/Ignore",
          {R"(#!/bin/bash
#SBATCH --nodes=2
srun true # hpcml: disable=slurm/after-comand sbatch reads this file twice
)",
           R"(#!/bin/bash
set -e
# hpcml: disable=slurm/after-command
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
# hpcml: disable=slurm/after-command the directives were below once
#SBATCH --nodes=2
srun true
)",
           R"(#!/bin/bash
# hpcml: disable-file=
srun true
)"},
          {R"(#!/bin/bash
set -e
# hpcml: disable=slurm/after-command kept for the list of old settings
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
# hpcml: disable-file=slurm/after-command a wrapper reads the lines below
set -e
#SBATCH --nodes=2
#SBATCH --time=10
)",
           R"(#!/bin/bash
# hpcml writes this file
srun true
)"}};
}

} // namespace hpcml::check
