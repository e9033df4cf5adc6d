// SPDX-License-Identifier: MIT
// Container engines that the site does not have.
#include <algorithm>
#include <fmt/format.h>

#include "check/site_rule.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace site_container_engine {

/// Whether the site has the engine, also under another name of its family.
bool has_engine(const model::Site& site, const model::EngineRow& engine) {
  return std::any_of(site.containers.begin(), site.containers.end(), [&](const auto& rule) {
    const auto& own = model::row_of(rule.engine);
    return own.name == engine.name || (!engine.family.empty() && own.family == engine.family);
  });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!subject.site || subject.site->containers.empty()) return hits;
  const auto names = site_rules::engine_names(*subject.site);
  for (const auto& launch : subject.launches) {
    const auto found = std::find_if(launch.chain.begin(), launch.chain.end(), [](const Link& link) {
      const auto* engine = model::find_engine_program(link.program);
      return engine && engine->of_sites;
    });
    if (found == launch.chain.end() || has_engine(*subject.site, *model::find_engine_program(found->program)))
      continue;
    const auto place = found->place;
    if (!hits.empty() && hits.back().place.offset == place.offset) continue;
    hits.push_back({place, fmt::format("the profile of {} has no {}", subject.site->name, found->program),
                    cite(fmt::format("use {} to run containers", util::join(names, ", ")),
                         subject.site->containers.front().origin)});
  }
  return hits;
}

} // namespace site_container_engine

Rule rule_site_container_engine() {
  using namespace site_container_engine;
  return {
      .id = "site/container-engine",
      .severity = diag::Severity::warning,
      .title = "Unknown container engine",
      .why = "A program that is not on the nodes ends the job at its first line; docker needs rights that no "
             "user of a cluster has.",
      .link = "https://apptainer.org/docs/user/main/quick_start.html",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun docker run pytorch/pytorch python train.py
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun singularity exec a.sif python train.py
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
