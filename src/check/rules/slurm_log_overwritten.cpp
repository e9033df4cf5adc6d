// SPDX-License-Identifier: MIT
// A log whose name is the same for every job.
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_log_overwritten {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() != 1) return hits;
  const auto& request = subject.requests[0];
  if (request.has("array") || util::to_lower(request.text("open-mode")).starts_with("a")) return hits;
  for (const std::string_view option : {"output", "error"}) {
    const auto name = request.text(option);
    if (name.empty() || name.find_first_of("%$\\") != std::string::npos || name.starts_with("/dev/") ||
        name == "none" || has_gap(name) || request.place(option).length == 0)
      continue;
    hits.push_back({request.place(option), fmt::format("the next job overwrites '{}'", name),
                    "add %j, the job's number, to the name, or use --open-mode=append"});
    break; // what holds for one holds for the other
  }
  return hits;
}

} // namespace slurm_log_overwritten

Rule rule_slurm_log_overwritten() {
  using namespace slurm_log_overwritten;
  return {
      .id = "slurm/log-overwritten",
      .severity = diag::Severity::note,
      .title = "The same log for every job",
      .why = "Slurm empties an existing log when a job starts. With a name that every submission shares, the "
             "log of the last failure is gone with the next attempt, and two jobs that run at the same time "
             "write into one file.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_FILENAME-PATTERN",
      .bad = {R"(#!/bin/bash
#SBATCH --output=train.log
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --output=train-%j.log
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
