// SPDX-License-Identifier: MIT
// Options that do nothing in a directive.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/fix.hpp"
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_no_effect {

constexpr std::array<std::string_view, 5> k_options = {"help", "usage", "version", "wrap", "quiet"};

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& request : subject.requests)
    for (const auto& [option, setting] : request.settings)
      if (std::find(k_options.begin(), k_options.end(), option) != k_options.end() &&
          setting.place.length > 0) {
        RuleMatch hit{setting.place, fmt::format("--{} has no effect in a directive", option),
                      "use it on the command line of sbatch, or remove it"};
        if (subject.text.substr(setting.place.offset, 2) == "--")
          hit.fix = {remove_option(subject.text, setting.place)};
        hits.push_back(std::move(hit));
      }
  return hits;
}

} // namespace slurm_no_effect

Rule rule_slurm_no_effect() {
  using namespace slurm_no_effect;
  return {
      .id = "slurm/no-effect",
      .severity = diag::Severity::warning,
      .title = "Option without effect in a directive",
      .why = "--help, --usage, --version, --wrap and --quiet are for the command line: in a directive sbatch "
             "reads and ignores them.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --quiet
srun true
)"},
      .good = {R"(#!/bin/bash
#SBATCH --verbose
)"},
      .find = find,
  };
}

} // namespace hpcml::check
