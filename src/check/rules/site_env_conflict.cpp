// SPDX-License-Identifier: MIT
// Environment variables that do not go together.
#include <algorithm>
#include <fmt/format.h>

#include "check/site_rule.hpp"
#include "core/launch_chain/image.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace site_env_conflict {

/// "NAME" or "NAME=VALUE", as the program sees it from the script.
bool is_set(const Launch& launch, const std::string& setting) {
  const auto equals = setting.find('=');
  const auto* value = launch.variable(setting.substr(0, equals));
  return value &&
         (equals == std::string::npos || (value->known() && value->text() == setting.substr(equals + 1)));
}

/// Whether NCCL or RCCL, which all these rules are about, is at work in the launch as far as can be seen.
bool may_use_nccl(const LintContext& subject, const Launch& launch) {
  if (launch.python() || launch.agent() || launch.container()) return true;
  const auto text = util::to_lower(subject.text);
  return text.find("nccl") != std::string::npos || text.find("rccl") != std::string::npos ||
         text.find("torch") != std::string::npos;
}

/// What the conditions of a rule ask about one launch of the job.
site_rules::JobFacts facts_of(const LintContext& subject, const Launch& launch) {
  auto facts = subject.fits.empty() ? site_rules::JobFacts{} : subject.fits[0].facts;
  if (const auto image = launch_chain::find_image(launch)) {
    facts.container = true;
    facts.image = image->word->text();
  }
  return facts;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!subject.site) return hits;
  for (const auto& rule : subject.site->conflicts)
    for (const auto& launch : subject.launches) {
      const auto& settings = rule.settings;
      if (settings.empty() || !site_rules::applies(rule.when, facts_of(subject, launch)) ||
          launch.chain.front().program == "export" ||
          !std::all_of(settings.begin(), settings.end(),
                       [&](const auto& setting) { return is_set(launch, setting); }) ||
          !may_use_nccl(subject, launch))
        continue;
      const auto* last = launch.variable(settings.back().substr(0, settings.back().find('=')));
      hits.push_back({last->place, site_rules::describe_conflict(rule, settings, *subject.site),
                      cite(settings.size() > 1 ? "remove one of them" : "remove it", rule.origin)});
      break;
    }
  return hits;
}

} // namespace site_env_conflict

Rule rule_site_env_conflict() {
  using namespace site_env_conflict;
  return {
      .id = "site/env-conflict",
      .severity = diag::Severity::warning,
      .title = "Conflicting environment variables",
      .why = "Each setting is right alone; together they hang, or slow the network down.",
      .link = "https://docs.cscs.ch/software/communication/nccl/",
      .bad = {R"(#!/bin/bash
#SBATCH -A g1
#SBATCH -N1
#SBATCH -t 10
#SBATCH -p normal
export NCCL_NET_PLUGIN=ofi NCCL_NET="AWS Libfabric"
srun python train.py
)",
              "alps_daint"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
SIF=/appl/local/laifs/containers/lumi-multitorch-torch-u24r64f21m43t29-20260319_153422.sif
export NCCL_NET_GDR_LEVEL=PHB
srun singularity exec $SIF python train.py
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
