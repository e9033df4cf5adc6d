// SPDX-License-Identifier: MIT
// Accounts and other names that are not of the form that the site has.

#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_option_form {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/option-form")) {
      const auto& rule = *violation.flag;
      const auto& name = violation.name;
      const auto value = part.demand.text(name);
      const bool suffix = violation.rule == site_rules::SiteRule::option_suffix;
      RuleMatch hit{part.place({name}), part.describe(violation),
                    cite(rule.pattern_hint.empty() ? "" : fmt::format("use --{}={}", name, rule.pattern_hint),
                         rule.origin)};
      hit.severity = severity_of(violation);
      if (suffix && value.find('@') == std::string::npos && !part.fit.nodes.empty())
        hit.fix = replace_in(subject, hit.place, value, value + rule.suffix);
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_option_form

Rule rule_site_option_form() {
  using namespace site_option_form;
  return {"site/option-form",
          diag::Severity::error,
          "Value of an unexpected form",
          "An account that does not exist is refused at submission: invalid account or account/partition "
          "combination. This also finds placeholders left in a script.",
          "https://docs.lumi-supercomputer.eu/runjobs/scheduled-jobs/batch-job/",
          {{R"(#!/bin/bash
#SBATCH --account=myproject
#SBATCH -t 10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=project_xxxxxxxxx
#SBATCH -t 10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=l40s:1
srun true
)",
            "vulcan"},
           {R"(#!/bin/bash
#SBATCH -A abc
#SBATCH -t 60
#SBATCH -p gpu_p6
#SBATCH -C h100
#SBATCH --gres=gpu:1
#SBATCH --hint=nomultithread
srun true
)",
            "jean_zay"},
           {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=h100:1
srun true
)",
            "fir"}},
          {k_lumi_job,
           {R"(#!/bin/bash
#SBATCH -A abc@h100
#SBATCH -t 60
#SBATCH -p gpu_p6
#SBATCH -C h100
#SBATCH --gres=gpu:1
#SBATCH --hint=nomultithread
srun true
)",
            "jean_zay"},
           {R"(#!/bin/bash
#SBATCH --account=aip-me
#SBATCH -t 60
#SBATCH --gpus-per-node=l40s:1
srun true
)",
            "vulcan"}},
          find,
          nullptr,
          k_likely_refusal};
}

} // namespace hpcml::check
