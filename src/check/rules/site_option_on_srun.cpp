// SPDX-License-Identifier: MIT
// Options that the site takes from srun only.
#include "check/site_options.hpp"

#include "check/site_rule.hpp"
#include "core/slurm/options.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_option_on_srun {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/option-on-srun")) {
      const bool own = slurm::is_option(slurm::Program::sbatch, violation.name);
      const auto place = own ? part.place({violation.name}) : plugin_word(subject.header, violation.name);
      RuleMatch hit{place, part.describe(violation),
                    cite(fmt::format("add --{} to srun instead", violation.name), violation.origin)};
      // An option that sbatch refuses is written so; a plugin may take its option with a word of
      // warning.
      if (!own) hit.severity = diag::Severity::warning;
      hits.push_back(std::move(hit));
    }
  return hits;
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
      .find = find,
  };
}

} // namespace hpcml::check
