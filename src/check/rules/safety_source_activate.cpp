// SPDX-License-Identifier: MIT
// The old way to activate a conda environment.
#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_source_activate {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    const auto words = command.arguments();
    if ((name != "source" && name != ".") || command.context.uncalled || words.size() != 2 ||
        words[0].text() != "activate")
      continue;
    hits.push_back(
        {command.place, "source activate is the old command of conda",
         "use: source \"$(conda info --base)/etc/profile.d/conda.sh\"; conda activate " + words[1].text()});
  }
  return hits;
}

} // namespace safety_source_activate

Rule rule_safety_source_activate() {
  using namespace safety_source_activate;
  return {
      .id = "safety/source-activate",
      .severity = diag::Severity::note,
      .title = "source activate",
      .why = "source activate finds conda's script only when its bin directory is on PATH, knows no stacked "
             "environments, and has been replaced by conda activate since conda 4.4.",
      .link = "https://docs.conda.io/projects/conda/en/latest/dev-guide/deep-dives/activation.html",
      .bad = {R"(#!/bin/bash
source activate x
)"},
      .good = {R"(#!/bin/bash
source venv/bin/activate
)"},
      .find = find,
  };
}

} // namespace hpcml::check
