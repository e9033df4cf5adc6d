// SPDX-License-Identifier: MIT
// File name patterns in the name of a job.
#include <fmt/format.h>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_job_name_pattern {

RuleMatches find(const LintContext& subject) {
  if (subject.requests.empty()) return {};
  const auto& request = subject.requests[0];
  const auto name = request.text("job-name");
  if (request.place("job-name").length == 0 || name.find("%%") != std::string::npos) return {}; // a template
  for (auto at = name.find('%'); at != std::string::npos; at = name.find('%', at + 1)) {
    const auto letter = name.substr(at + 1, 1);
    if (letter.empty() || std::string_view("AajJ").find(letter) == std::string_view::npos) continue;
    return {{request.place("job-name"),
             fmt::format("sbatch does not replace %{} in the name of a job", letter),
             "remove it: squeue and sacct list the number of each job and task"}};
  }
  return {};
}

} // namespace slurm_job_name_pattern

Rule rule_slurm_job_name_pattern() {
  using namespace slurm_job_name_pattern;
  return {
      .id = "slurm/job-name-pattern",
      .severity = diag::Severity::warning,
      .title = "Pattern in the name of the job",
      .why = "sbatch replaces %j, %A and %a in the names of files only. A job name with %a is that text for "
             "every task of the array, and so is a log named with %x.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_FILENAME-PATTERN",
      .bad = {R"(#!/bin/bash
#SBATCH --job-name=train_%A_%a
#SBATCH --array=0-9
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --job-name=train
#SBATCH --array=0-9
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
