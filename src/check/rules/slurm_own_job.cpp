// SPDX-License-Identifier: MIT
// Commands about the job that runs them.
#include <array>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_own_job {

/// True if the command is the last of the script, and nothing decides whether it runs.
bool ends_script(const LintContext& subject, const shell::Command& command) {
  const auto& context = command.context;
  return &command == &subject.listing.commands.back() && !context.condition && !context.background &&
         !context.trap && context.function.empty();
}

/// True if the only word after the command is the number of the job.
bool names_own_job(const shell::Command& command) {
  const auto words = command.arguments();
  if (words.size() != 1) return false;
  static constexpr std::array<std::string_view, 4> k_texts = {"$SLURM_JOBID", "$SLURM_JOB_ID",
                                                              "${SLURM_JOBID}", "${SLURM_JOB_ID}"};
  return util::contains(k_texts, std::string_view(words[0].text()));
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    if (command.parent || command.context.uncalled || command.context.unreached) continue;
    if (is_program(command, "seff") && names_own_job(command))
      hits.add({command.place, "seff reads the accounting of ended jobs, and this one still runs",
                "use seff after the job, or sstat -j in the job"});
    if (is_program(command, "scancel") && names_own_job(command) && ends_script(subject, command))
      hits.add({command.place,
                "the job ends as CANCELLED: --dependency=afterok and accounting count it as failed",
                "remove it: the job ends with its script"});
  }
  return hits;
}

} // namespace slurm_own_job

Rule rule_slurm_own_job() {
  using namespace slurm_own_job;
  return {
      .id = "slurm/own-job",
      .severity = diag::Severity::note,
      .title = "Command about the running job",
      .why = "Slurm records what a job used when it ends: seff in the job prints incomplete numbers. A job "
             "that cancels itself as its last command is CANCELLED although all of its work succeeded.",
      .link = "https://slurm.schedmd.com/scancel.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
python train.py
seff $SLURM_JOB_ID
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
python train.py
sacct -j $SLURM_JOB_ID
)"},
      .find = find,
  };
}

} // namespace hpcml::check
