// SPDX-License-Identifier: MIT
// Shortened options that a later Slurm reads otherwise or not at all.
#include "check/rule.hpp"

#include "core/slurm/options.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace slurm_abbreviated_option {

/// Whether every version from the subject's on reads the name as this option.
bool lasts(const LintContext& subject, std::string_view name, const std::string& option) {
  const auto first = subject.version_known ? static_cast<std::size_t>(subject.version) : 0;
  for (auto i = first; i < slurm::k_version_names.size(); ++i) {
    const auto match = slurm::find_option(slurm::Program::sbatch, name, static_cast<slurm::Version>(i));
    if (!match.option || match.option->name != option) return false;
  }
  return true;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& settings : subject.settings)
    for (const auto& setting : settings) {
      const auto word = subject.text.substr(setting.place.offset, setting.place.length);
      if (!word.starts_with("--")) continue;
      const auto name = word.substr(2, word.find_first_of("= \t") == std::string_view::npos
                                           ? std::string_view::npos
                                           : word.find_first_of("= \t") - 2);
      if (name == setting.option || !setting.option.starts_with(name) || lasts(subject, name, setting.option))
        continue;
      hits.push_back(
          {{setting.place.offset, name.size() + 2},
           fmt::format("--{} is --{} here, and in other versions of Slurm ambiguous or another option", name,
                       setting.option),
           "use --" + setting.option,
           {{setting.place.offset + 2, name.size(), setting.option}}});
    }
  return hits;
}

} // namespace slurm_abbreviated_option

Rule rule_slurm_abbreviated_option() {
  using namespace slurm_abbreviated_option;
  return {
      .id = "slurm/abbreviated-option",
      .severity = diag::Severity::warning,
      .title = "Abbreviated option",
      .why = "sbatch takes the beginning of a name as long as it is one option's. New options change that: "
             "--cons is --constraint up "
             "to 25.05 and ambiguous from 25.11, --extra was --extra-node-info up to 22.05.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --cons=gpu
)"},
      .good = {R"(#!/bin/bash
#SBATCH --constraint=gpu
)"},
      .find = find,
  };
}

} // namespace hpcml::check
