// SPDX-License-Identifier: MIT
// Environments that several tasks or jobs create or change at the same time.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_shared_install {

/// True if the text names a directory of one task, job or node.
bool is_private(std::string_view text) {
  static constexpr std::array<std::string_view, 8> k_signs = {
      "/dev/shm", "/tmp", "JOBSCRATCH", "LOCAL", "SLURM_ARRAY", "SLURM_JOB", "SLURM_PROCID", "TMP"};
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](auto sign) { return text.find(sign) != std::string_view::npos; });
}

/// What the program installs or creates; empty for other programs.
std::string_view installs(const Launch& launch) {
  const auto& link = launch.last();
  const auto has = [&](std::string_view subcommand) { return has_word(link.operands, subcommand); };
  const bool conda = link.program == "conda" || link.program == "mamba";
  if (link.program == "virtualenv" || link.module == "venv" || (conda && (has("create") || has("install"))))
    return "environment";
  const bool pip = link.program == "pip" || link.program == "pip3" || link.module == "pip";
  return pip && has("install") ? "packages" : "";
}

/// True if several tasks of the array run at once.
bool is_parallel_array(const LintContext& subject) {
  const auto* array = subject.directive("array");
  return array && array->value && array->value->find_first_of("-,") != std::string::npos &&
         !array->value->ends_with("%1");
}

/// True if the script uses an environment in a directory of the task or the job.
bool has_private_environment(const LintContext& subject) {
  const auto& commands = subject.listing.commands;
  return std::any_of(commands.begin(), commands.end(), [](const shell::Command& command) {
    const auto& words = command.words;
    return std::any_of(words.begin(), words.end(), [&](const auto& word) {
      const auto text = word.text();
      const bool of_environment = text.find("activate") != std::string::npos ||
                                  text.find("env") != std::string::npos || text.starts_with("--target");
      return (of_environment || command.name() == "cd") && is_private(text);
    });
  });
}

/// True if the launch changes the packages of an environment that exists before and after the job.
bool changes_lasting_environment(const Launch& launch) {
  const auto& command = *launch.command;
  const auto& context = command.context;
  const auto& program = launch.last().program;
  if (launch.container() || launch.step() || command.parent || context.condition || context.guarded ||
      context.substitution || (installs(launch) != "packages" && program != "conda" && program != "mamba") ||
      !has_word(launch.last().operands, "install"))
    return false;
  return std::none_of(command.words.begin(), command.words.end(),
                      [](const auto& word) { return is_private(word.text()); });
}

/// Reports a job that installs packages before its work, into the environment of all jobs.
RuleMatches find_in_job(const LintContext& subject) {
  if (subject.header.directives.empty() || subject.directive("array") ||
      subject.text.find("flock") != std::string_view::npos ||
      subject.text.find("--container") != std::string_view::npos)
    return {};
  const auto install = std::find_if(subject.launches.begin(), subject.launches.end(),
                                    [](const Launch& launch) { return changes_lasting_environment(launch); });
  if (install == subject.launches.end() ||
      std::none_of(install, subject.launches.end(),
                   [](const auto& launch) { return does_work(launch) && !launch.container(); }))
    return {};
  const bool unchecked = !install->command->context.errexit && !is_in_list(subject, *install->command);
  return {{install->command->place,
           fmt::format("each job changes an environment that other jobs may use at the same time{}",
                       unchecked ? ", and starts its program even if this fails" : ""),
           "run it once before the job, or use an environment in $TMPDIR"}};
}

/// True if a command of the script installs something: most scripts have none.
bool may_install(const LintContext& subject) {
  return std::any_of(subject.launches.begin(), subject.launches.end(),
                     [](const Launch& launch) { return !installs(launch).empty(); });
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1 || !may_install(subject) || has_private_environment(subject)) return {};
  const bool array = is_parallel_array(subject);
  for (const auto& launch : subject.launches) {
    const auto& command = *launch.command;
    const auto what = installs(launch);
    if (what.empty() || launch.container() || command.context.condition || command.context.uncalled) continue;
    const auto tasks = launch.step() ? shape_of(subject, launch).tasks : std::nullopt;
    if (!array && tasks.value_or(1) < 2) continue;
    const auto& words = command.words;
    if (std::any_of(words.begin(), words.end(), [](const auto& word) { return is_private(word.text()); }))
      continue;
    // The tasks of a step on one node share $TMPDIR.
    return {
        {command.place,
         fmt::format("all tasks{} change the same {} at the same time", array ? " of the array" : "", what),
         array ? "run it once before the job, or use a directory of the task: $TMPDIR"
               : "run it once before the job, or in one task: srun --ntasks=1"}};
  }
  return find_in_job(subject);
}

} // namespace safety_shared_install

Rule rule_safety_shared_install() {
  using namespace safety_shared_install;
  return {
      .id = "safety/shared-install",
      .severity = diag::Severity::note,
      .title = "Installation by several tasks or jobs at once",
      .why = "pip and venv do not lock an environment. Tasks and jobs that install into the same directory "
             "at the "
             "same time remove each other's files: imports fail at random, and the environment stays "
             "incomplete. "
             "An installation in the job also changes versions between runs, and the GPUs wait for it.",
      .link = "https://docs.python.org/3/library/venv.html",
      .bad = {R"(#!/bin/bash
#SBATCH --array=0-7 --time=10
python3 -m venv .venv
source .venv/bin/activate
pip install -r requirements.txt
python train.py "$SLURM_ARRAY_TASK_ID"
)"},
      .good = {R"(#!/bin/bash
#SBATCH --array=0-7 --time=10
virtualenv --no-download "$SLURM_TMPDIR/env"
source "$SLURM_TMPDIR/env/bin/activate"
pip install --no-index -r requirements.txt
python train.py "$SLURM_ARRAY_TASK_ID"
)"},
      .find = find,
  };
}

} // namespace hpcml::check
