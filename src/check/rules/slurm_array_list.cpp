// SPDX-License-Identifier: MIT
// Lists that are shorter than the job array that reads them.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_array_list {

/// The number that the index adds to that of the array task: -1 of "$((SLURM_ARRAY_TASK_ID - 1))"; nothing if
/// it is no such sum.
std::optional<long> offset_of(std::string_view index) {
  constexpr std::string_view k_task = "SLURM_ARRAY_TASK_ID";
  std::string sum;
  for (const char c : index)
    if (std::string_view("${}() \t\"").find(c) == std::string_view::npos) sum += c;
  if (!sum.starts_with(k_task)) return std::nullopt;
  const auto rest = sum.substr(k_task.size());
  if (rest.empty()) return 0;
  long offset = 0;
  const char* begin = rest.data() + (rest[0] == '+' ? 1 : 0);
  const char* end = rest.data() + rest.size();
  const auto read = std::from_chars(begin, end, offset);
  return (rest[0] == '+' || rest[0] == '-') && read.ec == std::errc{} && read.ptr == end
             ? std::optional(offset)
             : std::nullopt;
}

/// True if the script compares the number of the task with another, or uses that of the elements.
bool is_tested(std::string_view text, const std::string& array) {
  if (text.find("{#" + array + "[") != std::string_view::npos) return true;
  constexpr std::string_view k_task = "SLURM_ARRAY_TASK_ID";
  for (auto at = text.find(k_task); at != std::string_view::npos; at = text.find(k_task, at + 1)) {
    const auto sign = text.find_first_not_of("}\" ", at + k_task.size());
    if (sign == std::string_view::npos) break;
    const auto next = text.substr(sign, 3);
    for (const std::string_view test : {"-g", "-l", "-eq", "<", ">", "=="})
      if (next.starts_with(test)) return true;
  }
  return false;
}

RuleMatches find(const LintContext& subject) {
  constexpr unsigned long long k_most_tasks = 10000;
  RuleMatches hits;
  if (subject.listing.elements.empty() || subject.requests.size() != 1) return hits;
  const auto text = subject.requests[0].text("array");
  if (text.empty() || slurm::count_array_tasks(text) > k_most_tasks) return hits;
  const auto spec = slurm::parse_array(text, 4'000'001);
  if (!spec || spec->indices.empty()) return hits;
  for (const auto& element : subject.listing.elements) {
    const auto offset = offset_of(element.index);
    const auto last = static_cast<long>(spec->indices.back());
    const auto count = static_cast<long>(element.count);
    if (!offset || count < 2 || last + *offset < count || is_tested(subject.text, element.array)) continue;
    const auto first = std::find_if(spec->indices.begin(), spec->indices.end(), [&](unsigned task) {
      return static_cast<long>(task) + *offset >= count;
    });
    hits.add({element.place,
              fmt::format("{} has {} elements: array task{} read{} an empty value", element.array, count,
                          *first == last ? fmt::format(" {}", last) : fmt::format("s {} to {}", *first, last),
                          *first == last ? "s" : ""),
              fmt::format("use #SBATCH --array={}-{}, or add the elements", -*offset, count - 1 - *offset)});
  }
  return hits;
}

} // namespace slurm_array_list

Rule rule_slurm_array_list() {
  using namespace slurm_array_list;
  return {
      .id = "slurm/array-list",
      .severity = diag::Severity::warning,
      .title = "Array task without an element",
      .why = "Bash numbers the elements of a list from 0. With --array=1-3 the first of three elements is "
             "never read, and task 3 reads an empty value: its program runs with a missing argument.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Arrays.html",
      .bad = {R"(#!/bin/bash
#SBATCH --array=1-3
#SBATCH --output=%A_%a.log
seeds=(1 42 100)
python train.py --seed ${seeds[$SLURM_ARRAY_TASK_ID]}
)"},
      .good = {R"(#!/bin/bash
#SBATCH --array=0-2
#SBATCH --output=%A_%a.log
seeds=(1 42 100)
python train.py --seed ${seeds[$SLURM_ARRAY_TASK_ID]}
)"},
      .find = find,
  };
}

} // namespace hpcml::check
