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

void look(const LintContext& subject, diag::TextRange place, RuleMatches& hits) {
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
  return {
      .id = "slurm/old-option-name",
      .severity = diag::Severity::note,
      .title = "Old name of an option",
      .why = "--tasks-per-node, --cluster and --pack-group are old spellings. They still work, are "
             "in no manual any more, "
             "and others of their age (--workdir, --share, --mem_bind) have already gone.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --tasks-per-node=4
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks-per-node=4
)"},
      .find = find,
  };
}

} // namespace hpcml::check
