// SPDX-License-Identifier: MIT
// Options that the site takes from srun only.
#include "check/site_options.hpp"
#include "check/site_rule.hpp"
#include "core/slurm/options.hpp"

namespace hpcml::check {
namespace site_option_on_srun {

bool complete(const LintContext& subject, const ComponentSiteEvaluation&,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  if (slurm::is_option(slurm::Program::sbatch, violation.name)) return true;
  match.place = plugin_word(subject.header, violation.name);
  // An option that sbatch refuses is written so; a plugin may take its option with a word of warning.
  match.severity = diag::Severity::warning;
  return true;
}

} // namespace site_option_on_srun

Rule rule_site_option_on_srun() {
  using namespace site_option_on_srun;
  return {
      .id = "site/option-on-srun",
      .severity = diag::Severity::error,
      .title = "Option for srun in a directive",
      .why = "Some options may be given to a step only: in a directive they make the site reject the job, or "
             "set up "
             "the wrong thing.",
      .link = "https://slurm.schedmd.com/srun.html",
      .bad = {R"(#!/bin/bash
#SBATCH --account=x
#SBATCH -p gpu
#SBATCH --qos=gpu-shd
#SBATCH --gpus=1
#SBATCH -t 10
#SBATCH --ntasks=1
srun true
)",
              "archer2_gpu"},
      .good = {R"(#!/bin/bash
#SBATCH --account=x
#SBATCH -p gpu
#SBATCH --qos=gpu-shd
#SBATCH --gpus=1
#SBATCH -t 10
srun --ntasks=1 --cpus-per-task=8 true
)",
               "archer2_gpu"},
      .find =
          [](const LintContext& subject) {
            return match_violations(subject, "site/option-on-srun", complete);
          },
  };
}

} // namespace hpcml::check
