// SPDX-License-Identifier: MIT
// Standard output in a file for errors, and errors in the one for output.
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_logs_swapped {

bool are_swapped(const std::string& output, const std::string& error) {
  return output.ends_with(".err") && (error.ends_with(".out") || error.ends_with(".log"));
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto add = [&](diag::TextRange place) {
    hits.add({place, "the names of the logs are swapped: .err gets the output, and the other file the errors",
              "swap the two names"});
  };
  for (const auto& request : subject.requests)
    if (are_swapped(request.text("output"), request.text("error")) && request.place("output").length > 0)
      add(request.place("output"));
  for (const auto& launch : subject.launches) {
    const auto* step = launch.find("srun");
    const auto* output = step && is_own(launch, *step) ? step->find("output") : nullptr;
    const auto* error = output ? step->find("error") : nullptr;
    if (error && output->value && error->value && are_swapped(output->value->text(), error->value->text()))
      add(output->place);
  }
  return hits;
}

} // namespace slurm_logs_swapped

Rule rule_slurm_logs_swapped() {
  using namespace slurm_logs_swapped;
  return {
      .id = "slurm/logs-swapped",
      .severity = diag::Severity::warning,
      .title = "Names of the logs swapped",
      .why = "A stack trace is looked for in the .err file. With --output=job.err and --error=job.out it is "
             "in the other one, and a log that is checked for errors looks clean.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_error",
      .bad = {R"(#!/bin/bash
#SBATCH --output=%j.err --error=%j.out
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --output=%j.out --error=%j.err
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
