// SPDX-License-Identifier: MIT
// A script that sbatch only ever tries and never submits.
#include "check/fix.hpp"
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_test_only {

RuleMatches find(const LintContext& subject) {
  const auto* setting = subject.directive("test-only");
  if (!setting || setting->place.length == 0) return {};
  RuleMatch hit{setting->place, "with --test-only in the script sbatch never submits a job",
                "use it on the command line for a trial"};
  hit.fix = {remove_option(subject.text, setting->place)};
  return {hit};
}

} // namespace slurm_test_only

Rule rule_slurm_test_only() {
  using namespace slurm_test_only;
  return {
      .id = "slurm/test-only",
      .severity = diag::Severity::warning,
      .title = "--test-only in a directive",
      .why =
          "The option also works in directives: sbatch says when the job could start and makes none. Nothing "
          "runs, and sbatch ends with success.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_test-only",
      .bad = {R"(#!/bin/bash
#SBATCH --test-only
srun true
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
)"},
      .find = find,
  };
}

} // namespace hpcml::check
