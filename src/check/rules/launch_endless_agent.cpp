// SPDX-License-Identifier: MIT
// An agent of a sweep that the time limit ends.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace launch_endless_agent {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.header.directives.empty() || subject.text.find("wandb agent") == std::string_view::npos)
    return hits;
  for (const auto& launch : subject.launches) {
    const auto& words = launch.command->words;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i].text() != "wandb" || words[i + 1].text() != "agent") continue;
      if (std::any_of(words.begin(), words.end(), [](const auto& word) {
            return !word.known() ? word.many : word.text().starts_with("--count");
          }))
        break;
      hits.add(
          {words[i].place,
           "without --count the agent starts runs until the sweep is complete or the time limit ends one",
           "use wandb agent --count 1, with as many jobs as runs"});
      break;
    }
  }
  return hits;
}

} // namespace launch_endless_agent

Rule rule_launch_endless_agent() {
  using namespace launch_endless_agent;
  return {
      .id = "launch/endless-agent",
      .severity = diag::Severity::note,
      .title = "wandb agent without --count",
      .why = "Without --count, wandb agent starts one run after the other until the sweep is complete. The "
             "time limit then ends a run in the middle, which stays marked as crashed.",
      .link = "https://docs.wandb.ai/ref/cli/wandb-agent",
      .bad = {R"(#!/bin/bash
#SBATCH --time=01:00:00 --array=0-8
wandb agent team/project/5y8n6m1b
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=01:00:00 --array=0-8
wandb agent --count 1 team/project/5y8n6m1b
)"},
      .find = find,
  };
}

} // namespace hpcml::check
