// SPDX-License-Identifier: MIT
// A log whose name is the same for every job.
#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_log_overwritten {

/// True if all patterns of the name are the job's name, its user or the number in an array, which further
/// jobs share: "%x.out".
bool is_same_for_all(std::string_view name) {
  for (auto at = name.find('%'); at != std::string_view::npos; at = name.find('%', at + 2)) {
    const auto letter = name.substr(at + 1, 1);
    if (letter != "x" && letter != "u" && letter != "a") return false;
  }
  return name.find_first_of("$\\") == std::string_view::npos;
}

/// True if the command is the job's work.
bool is_work(const LintContext& subject, const shell::Command& command) {
  return std::any_of(subject.launches.begin(), subject.launches.end(),
                     [&](const Launch& launch) { return launch.command == &command && does_work(launch); });
}

/// The file that `tee` empties; nothing of other commands, where it appends, or where the name differs.
const shell::Argument* file_of_tee(const shell::Command& command) {
  const auto& context = command.context;
  if (!is_program(command, "tee") || context.loop || context.inexact || context.uncalled ||
      !context.function.empty())
    return nullptr;
  const auto words = command.arguments();
  return words.size() == 1 && words[0].known() && !words[0].text().starts_with("/dev/") ? &words[0] : nullptr;
}

/// The file of `tee` after the job's work, which each job empties; nothing where there is none.
const shell::Argument* find_tee(const LintContext& subject) {
  const shell::Command* before = nullptr;
  for (const auto& command : subject.listing.commands) {
    const auto* work = before;
    before = command.context.pipeline && !command.parent ? &command : nullptr;
    const auto* file = work && before ? file_of_tee(command) : nullptr;
    if (file && is_work(subject, *work)) return file;
  }
  return nullptr;
}

/// What is wrong with the name of the option's file; nothing where the next job has another one.
std::optional<RuleMatch> find_shared_name(const slurm::JobOptions& request, std::string_view option) {
  const auto name = request.text(option);
  const bool numbered = name.find("%a") != std::string::npos;
  if (name.empty() || !is_same_for_all(name) || name.starts_with("/dev/") || name == "none" ||
      has_gap(name) || request.place(option).length == 0)
    return std::nullopt;
  if (request.has("array") && !numbered) return std::nullopt; // slurm/array-log
  return RuleMatch{request.place(option),
                   fmt::format("the next job{} overwrites '{}'",
                               name.find("%x") != std::string::npos ? " of this name" : "", name),
                   fmt::format("add {} number, to the name, or use --open-mode=append",
                               numbered ? "%A, the array's" : "%j, the job's")};
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() != 1) return hits;
  const auto& request = subject.requests[0];
  if (const auto* file = request.has("array") ? nullptr : find_tee(subject))
    hits.push_back({file->place, fmt::format("the next job overwrites '{}'", file->text()),
                    "add $SLURM_JOB_ID to the name, or use tee -a"});
  if (util::to_lower(request.text("open-mode")).starts_with("a")) return hits;
  auto shared = find_shared_name(request, "output");
  if (!shared) shared = find_shared_name(request, "error"); // what holds for one holds for the other
  if (shared) hits.push_back(std::move(*shared));
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
      .yields_to = {{"slurm/array-log"}},
  };
}

} // namespace hpcml::check
