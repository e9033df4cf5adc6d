// SPDX-License-Identifier: MIT
// A log whose name is the same for every job.
#include <fmt/format.h>
#include <optional>

#include "check/rule.hpp"
#include "check/work_log.hpp"
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

/// True if the file is a log by its name, and not the result of the program. What a condition runs may test
/// whether the file exists.
bool is_log(const WorkLog& log) {
  if (log.writer == WorkLog::Writer::tee) return true;
  const auto base = util::to_lower(util::base_name(log.name));
  if (log.condition) return false;
  const bool trains = base.find("train") != std::string::npos;
  return trains || (log.python && (base.ends_with(".err") || base.ends_with(".out") ||
                                   base.find("log") != std::string::npos));
}

/// The first log of a program that each job empties; nothing where there is none.
std::optional<RuleMatch> find_own_log(const LintContext& subject) {
  for (const auto& log : find_fixed_logs(subject))
    if (is_log(log))
      return RuleMatch{log.place, fmt::format("the next job overwrites '{}'", log.name),
                       hint_for(log, "$SLURM_JOB_ID")};
  return std::nullopt;
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
  // Of an array slurm/array-log speaks.
  if (auto own = request.has("array") ? std::nullopt : find_own_log(subject)) hits.push_back(std::move(*own));
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
             "write into one file. The same holds for files that the script itself writes with > or tee.",
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
