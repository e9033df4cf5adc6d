// SPDX-License-Identifier: MIT
// Names of logs that do not agree with whether the job is an array.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/work_log.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_array_log {

bool has_pattern(std::string_view name, std::string_view letters) {
  for (auto at = name.find('%'); at != std::string_view::npos && at + 1 < name.size();
       at = name.find('%', at + 2)) {
    auto next = name.find_first_not_of("0123456789", at + 1);
    if (next != std::string_view::npos && letters.find(name[next]) != std::string_view::npos) return true;
  }
  return false;
}

/// Adds the numbers that the name lacks: after %A, else before the ending of the file's name, which begins at
/// the byte.
Edit add_numbers(std::string_view name, std::size_t begin) {
  if (const auto array = name.find("%A"); array != std::string_view::npos)
    return {begin + array + 2, 0, "_%a"};
  const auto slash = name.rfind('/');
  const auto dot = name.rfind('.');
  const bool ends = dot != std::string_view::npos && (slash == std::string_view::npos || dot > slash + 1);
  return {begin + (ends && dot > 0 ? dot : name.size()), 0, "_%A_%a"};
}

/// "1-1": an array of one task.
bool has_one_task(std::string_view list) {
  const auto dash = list.find('-');
  return list.find(',') == std::string_view::npos && dash != std::string_view::npos &&
         list.substr(0, dash) == list.substr(dash + 1, list.find_first_of(":%", dash) - dash - 1);
}

/// True if the script may be an array by the command line of sbatch: it reads a variable of arrays, or a
/// comment has the option.
bool may_be_array(const LintContext& subject) {
  return subject.text.find("SLURM_ARRAY") != std::string_view::npos ||
         subject.text.find("--array") != std::string_view::npos ||
         subject.text.find("sbatch -a") != std::string_view::npos;
}

/// Reports names with %a in a job that is not an array.
RuleMatches find_unused_number(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.empty() || may_be_array(subject)) return hits;
  const auto& request = subject.requests[0];
  for (const std::string_view option : {"output", "error"})
    if (hits.empty() && has_pattern(request.text(option), "a") && request.place(option).length > 0)
      hits.push_back({request.place(option),
                      "%a is 4294967294 in a job that is not an array",
                      "use %j, the job's number, instead of %A and %a",
                      {},
                      diag::Severity::note});
  return hits;
}

/// Reports a log that the script itself opens in each task of the array.
void find_own_logs(const LintContext& subject, std::string_view array, RuleMatches& hits) {
  // With %1 one task follows the other.
  if (subject.requests.size() != 1 || array.ends_with("%1") || slurm::count_array_tasks(array) < 2) return;
  for (const auto& log : find_fixed_logs(subject))
    if (!log.condition)
      hits.add({log.place, fmt::format("every task of the array writes '{}'", log.name),
                "add $SLURM_ARRAY_TASK_ID to the name"});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto* array = subject.directive("array");
  if (!array) return find_unused_number(subject);
  if (!array->value || array->value->find_first_of("-,") == std::string::npos || has_one_task(*array->value))
    return hits;
  const auto& request = subject.requests[0];
  const bool appends = util::to_lower(request.text("open-mode")).starts_with("a");
  const bool one_by_one = array->value->ends_with("%1");
  find_own_logs(subject, *array->value, hits);
  for (const std::string_view option : {"output", "error"}) {
    const auto name = request.text(option);
    if (name.empty() || name == "none" || name.starts_with("/dev/") || has_pattern(name, "ajJ") ||
        (appends && one_by_one))
      continue;
    if (name.find('\\') != std::string::npos || request.place(option).length == 0) continue;
    RuleMatch hit{request.place(option), fmt::format("every task of the array writes '{}'", name),
                  "add %A_%a (job and task) to the name"};
    const auto at = subject.text.substr(hit.place.offset, hit.place.length).rfind(name);
    if (at != std::string_view::npos) hit.fix = {add_numbers(name, hit.place.offset + at)};
    hits.push_back(std::move(hit));
  }
  return hits;
}

/// True if the task's number is in the name as a variable: the log is fixed with the variable.
bool names_task(const FindingPair& pair) {
  return pair.own.what.message.find("SLURM_ARRAY") != std::string::npos;
}

} // namespace slurm_array_log

Rule rule_slurm_array_log() {
  using namespace slurm_array_log;
  return {
      .id = "slurm/array-log",
      .severity = diag::Severity::warning,
      .title = "Log name that does not fit the array",
      .why =
          "Without the task's number in its name every task of the array opens the same file: they empty it "
          "one after the other and write over each other. So do files that the script writes with > or tee. "
          "In a job that is not an array, %a is the number "
          "4294967294.",
      .link = "https://slurm.schedmd.com/job_array.html#file_names",
      .bad = {R"(#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=run.log
)"},
      .good = {R"(#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=run_%A_%a.log
)"},
      .find = find,
      .yields_to = {{"slurm/variable-in-directive", names_task}},
  };
}

} // namespace hpcml::check
