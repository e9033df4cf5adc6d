// SPDX-License-Identifier: MIT
// The old way to activate a conda environment.
#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_source_activate {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.view.commands) {
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
  return {"safety/source-activate",
          diag::Severity::note,
          "source activate",
          "source activate finds conda's script only when its bin directory is on PATH, knows no stacked "
          "environments, and has been replaced by conda activate since conda 4.4.",
          "https://docs.conda.io/projects/conda/en/latest/dev-guide/deep-dives/activation.html",
          {R"(#!/bin/bash
source activate x
)",
           R"(#!/bin/bash
module load anaconda
source activate /scratch/env
)",
           R"(#!/bin/bash
. activate x
)"},
          {R"(#!/bin/bash
source venv/bin/activate
)",
           R"(#!/bin/bash
source activate
)",
           R"(#!/bin/bash
module load anaconda
conda activate x
)"},
          find};
}

} // namespace hpcml::check
