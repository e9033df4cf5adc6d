// SPDX-License-Identifier: MIT
// conda init in a batch script.
#include "check/rule.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace safety_conda_init {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    if (!is_program(command, "conda") && !is_program(command, "mamba")) continue;
    const auto words = command.arguments();
    if (words.empty() || words[0].text() != "init" || command.parent || command.context.uncalled ||
        command.context.substitution)
      continue;
    hits.add(
        {command.place, "conda init edits ~/.bashrc and changes nothing in this shell",
         "use: source \"$(conda info --base)/etc/profile.d/conda.sh\", and run conda init once on the login "
         "node"});
  }
  return hits;
}

} // namespace safety_conda_init

Rule rule_safety_conda_init() {
  using namespace safety_conda_init;
  return {
      .id = "safety/conda-init",
      .severity = diag::Severity::note,
      .title = "conda init in a job",
      .why =
          "conda init edits the user's ~/.bashrc and changes nothing in the shell that runs the script. Each "
          "job edits the file again. conda activate after it fails unless the script reads ~/.bashrc.",
      .link = "https://docs.conda.io/projects/conda/en/latest/commands/init.html",
      .bad = {R"(#!/bin/bash
conda init bash
conda activate x
python train.py
)"},
      .good = {R"(#!/bin/bash
source "$(conda info --base)/etc/profile.d/conda.sh"
conda activate x
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
