// SPDX-License-Identifier: MIT
// Names of options that Slurm has replaced and still takes.
#include <fmt/format.h>
#include <utility>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_old_option_name {

constexpr std::pair<std::string_view, std::string_view> k_names[] = {
    {"--tasks-per-node", "--ntasks-per-node"}, {"--cluster", "--clusters"}, {"--pack-group", "--het-group"}};

void look(const LintContext& subject, diag::Place place, RuleMatches& hits) {
  const auto word = subject.text.substr(place.offset, place.length);
  const auto name = word.substr(0, word.find_first_of("= \t"));
  for (const auto& [old, now] : k_names)
    if (name == old)
      hits.push_back({{place.offset, name.size()},
                      fmt::format("{} is the old name of {}", old, now),
                      fmt::format("use {}", now),
                      {{place.offset, name.size(), std::string(now)}}});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& settings : subject.settings)
    for (const auto& setting : settings) look(subject, setting.place, hits);
  for (const auto& launch : subject.launches)
    if (launch.chain.size() == 1 || launch.command->parent == std::nullopt)
      for (const auto& link : launch.chain)
        if (link.program == "srun")
          for (const auto& option : link.options) look(subject, option.place, hits);
  return hits;
}

} // namespace slurm_old_option_name

Rule rule_slurm_old_option_name() {
  using namespace slurm_old_option_name;
  return {"slurm/old-option-name",
          diag::Severity::note,
          "Old name of an option",
          "--tasks-per-node, --cluster and --pack-group are old spellings. They still work, are "
          "in no manual any more, "
          "and others of their age (--workdir, --share, --mem_bind) have already gone.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {R"(#!/bin/bash
#SBATCH --tasks-per-node=4
)",
           R"(#!/bin/bash
#SBATCH --tasks-per-node 2
)",
           R"(#!/bin/bash
srun --pack-group=0 a
)",
           R"(#!/bin/bash
#SBATCH --cluster gpu
)"},
          {R"(#!/bin/bash
#SBATCH --ntasks-per-node=4
)",
           R"(#!/bin/bash
srun --cpu-bind=none python train.py
)",
           R"(#!/bin/bash
srun python train.py --cpu_bind=none
)"},
          find};
}

} // namespace hpcml::check
