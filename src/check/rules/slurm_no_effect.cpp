// SPDX-License-Identifier: MIT
// Options that do nothing in a directive, or nothing where they are.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/fix.hpp"
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_no_effect {

constexpr std::array<std::string_view, 5> k_options = {"help", "usage", "version", "wrap", "quiet"};

/// Reports logs and time limits that only a later component has. The script runs in the first one.
void find_lost_options(const LintContext& subject, RuleMatches& hits) {
  for (std::size_t i = 1; i < subject.requests.size(); ++i)
    for (const std::string_view option : {"output", "error", "time"}) {
      const auto place = subject.requests[i].place(option);
      if (place.length == 0 || subject.requests[0].has(option)) continue;
      hits.add({place,
                option == "time" ? "the first component has no time limit: --time applies to this one only"
                                 : fmt::format("--{} has no effect here: the script runs in the first "
                                               "component and writes its log",
                                               option),
                "set it above the first hetjob: later components inherit it"});
    }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_lost_options(subject, hits);
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
      .why =
          "--help, --usage, --version, --wrap and --quiet are for the command line: in a directive sbatch "
          "reads and ignores them. In a heterogeneous job the batch script belongs to the first component: "
          "its log has the first one's name, and a time limit below hetjob leaves the first one the "
          "partition's default (tried with 22.05).",
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
