// SPDX-License-Identifier: MIT
// Comments that silence rules and do not do so.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_check_disable() {
  return {
      .id = "check/disable",
      .severity = diag::Severity::warning,
      .title = "A comment that ignores no finding",
      .why =
          "A comment that ignores a rule needs the rule's id and a reason, which is what the next reader "
          "asks for. One with a typo in its id, without a reason or on the wrong line ignores nothing; one "
          "that has outlived its finding would hide the next.",
      .link = "https://www.shellcheck.net/wiki/Ignore",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2
srun true # hpcml: disable=slurm/after-comand sbatch reads this file twice
)"},
      .good = {R"(#!/bin/bash
set -e
# hpcml: disable=slurm/after-command kept for the list of old settings
#SBATCH --nodes=2
)"},
  };
}

} // namespace hpcml::check
