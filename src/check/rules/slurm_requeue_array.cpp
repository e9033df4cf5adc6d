// SPDX-License-Identifier: MIT
// A task of an array that requeues or signals the whole array.
#include <algorithm>
#include <span>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_requeue_array {

/// Whether a word is a job's number that may be the array's: "$SLURM_JOB_ID" of one task is.
bool may_be_whole_array(std::string_view word) {
  for (const std::string_view name : {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_ARRAY_JOB_ID"})
    for (const std::string& text : {"$" + std::string(name), "${" + std::string(name) + "}"})
      if (word == text || word == "\"" + text + "\"") return true;
  return false;
}

/// Whether scancel chooses among the tasks of the array by their state, as scripts do that end the rest of
/// the array: "scancel --state=PENDING $SLURM_ARRAY_JOB_ID".
bool selects_tasks(std::span<const shell::Argument> words) {
  return std::any_of(words.begin(), words.end(), [](const shell::Argument& word) {
    const auto text = word.text();
    return text == "-t" || text.starts_with("--state") || text.starts_with("-t=") || text == "-tPD" ||
           text == "-tPENDING";
  });
}

RuleMatches find(const LintContext& subject) {
  if (!subject.directive("array")) return {};
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    const auto words = command.arguments();
    const bool requeues = name == "scontrol" && !words.empty() && words[0].text() == "requeue";
    if (!requeues && (name != "scancel" || selects_tasks(words))) continue;
    for (const auto& word : words) {
      const auto written = subject.text.substr(word.place.offset, word.place.length);
      if (!may_be_whole_array(written)) continue;
      hits.push_back(
          {word.place,
           std::string(
               "in one task of an array this number may be that of the whole array, so all tasks are ") +
               (requeues ? "requeued" : "signalled or cancelled"),
           "use ${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}",
           {}});
    }
  }
  return hits;
}

} // namespace slurm_requeue_array

Rule rule_slurm_requeue_array() {
  using namespace slurm_requeue_array;
  return {
      .id = "slurm/requeue-array",
      .severity = diag::Severity::warning,
      .title = "Array task that addresses the whole array",
      .why = "In a task of an array SLURM_JOB_ID is the number of that task's job, which for one of the "
             "tasks is "
             "the array's own; SLURM_ARRAY_JOB_ID always is. scontrol requeue and scancel take an array's "
             "number "
             "for all of its tasks.",
      .link = "https://slurm.schedmd.com/job_array.html",
      .bad = {R"(#!/bin/bash
#SBATCH --array=0-4
srun python train.py || scontrol requeue $SLURM_JOB_ID
)"},
      .good = {R"(#!/bin/bash
#SBATCH --array=0-4
srun python train.py || scontrol requeue ${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
)"},
      .find = find,
  };
}

} // namespace hpcml::check
