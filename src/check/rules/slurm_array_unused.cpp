// SPDX-License-Identifier: MIT
// Job arrays whose tasks all do the same.
#include <algorithm>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/node_reach.hpp"
#include "check/script_work.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_array_unused {

/// True if the launch is a training, which gets what differs between tasks by arguments. Other programs often
/// read the variable themselves, and scripts of R and MATLAB do.
bool is_plain_training(const Launch& launch) {
  if (launch.agent()) return true;
  if (!starts_python_file(launch) || !does_work(launch) || starts_nodes(*launch.python())) return false;
  const auto name = util::to_lower(util::base_name(launch.python()->operands[0].text()));
  return name.find("train") != std::string::npos || name.find("tune") != std::string::npos;
}

/// True if a word or a name speaks of chance, of time or of a queue of work: tasks then differ.
bool may_differ(std::string_view text) {
  for (const std::string_view sign :
       {"SLURM_ARRAY", "RANDOM", "$(date", "shuf", "sweep", "agent", "optuna", "queue", "mktemp",
        "SLURM_JOB_ID", "SLURM_JOBID", "uuid", "resume", "source "})
    if (text.find(sign) != std::string_view::npos) return true;
  return false;
}

RuleMatches find(const LintContext& subject) {
  const auto* array = subject.directive("array");
  if (!array || array->place.length == 0 || subject.requests.size() != 1) return {};
  const auto body = subject.text.substr(std::min(subject.header.end, subject.text.size()));
  if (may_differ(body)) return {};
  const auto value = subject.requests[0].text("array");
  // With %1 one follows the other: each continues the work of the last.
  if (slurm::count_array_tasks(value) < 2 || value.ends_with("%1")) return {};
  if (!shows_all_programs(subject)) return {};
  bool trains = false;
  for (const auto& launch : subject.launches) {
    const bool training = is_plain_training(launch);
    if (!training && !is_utility(launch)) return {};
    trains = trains || training;
  }
  if (!trains) return {};
  return {{array->place,
           fmt::format("nothing here reads SLURM_ARRAY_TASK_ID: all {} tasks do the same, unless the program "
                       "reads it itself",
                       slurm::count_array_tasks(value)),
           "use it for what differs: --seed $SLURM_ARRAY_TASK_ID, or an element of a list"}};
}

} // namespace slurm_array_unused

Rule rule_slurm_array_unused() {
  using namespace slurm_array_unused;
  return {
      .id = "slurm/array-unused",
      .severity = diag::Severity::note,
      .title = "Array whose tasks do the same",
      .why = "The tasks of an array differ in SLURM_ARRAY_TASK_ID alone. A script that does not use it runs "
             "the same program with the same arguments several times, and the runs write to the same files.",
      .link = "https://slurm.schedmd.com/job_array.html",
      .bad = {R"(#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=%A_%a.log
python train.py --seed 1
)"},
      .good = {R"(#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=%A_%a.log
python train.py --seed $SLURM_ARRAY_TASK_ID
)"},
      .find = find,
  };
}

} // namespace hpcml::check
