// SPDX-License-Identifier: MIT
// More processes that load data than a task has CPUs.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/task_cpus.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_workers_over_cpus {

/// The option of the program that sets its data loaders' processes, and their number.
struct Workers {
  const shell::Argument* word = nullptr;
  long count = 0;
};
std::optional<Workers> find_workers(const std::vector<shell::Argument>& words) {
  static constexpr std::array<std::string_view, 5> k_names = {
      "num_workers", "workers", "dataloader_num_workers", "n_workers", "num_dataloader_workers"};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].known()) continue;
    const auto text = words[i].text();
    const auto equals = text.find('=');
    if (!text.starts_with("--")) continue;
    const auto name =
        util::replace_all(text.substr(2, equals == std::string::npos ? equals : equals - 2), "-", "_");
    if (std::find(k_names.begin(), k_names.end(), name) == k_names.end()) continue;
    const bool next = equals == std::string::npos;
    if (next && (i + 1 >= words.size() || !words[i + 1].known())) return std::nullopt;
    const auto count = util::parse_unsigned(next ? words[i + 1].text() : text.substr(equals + 1));
    if (!count || *count > 10000) return std::nullopt;
    return Workers{&words[next ? i + 1 : i], static_cast<long>(*count)};
  }
  return std::nullopt;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() != 1 || subject.text.find("workers") == std::string_view::npos) return hits;
  for (const auto& launch : subject.launches) {
    if (!launch.python() && !launch.agent()) continue;
    const auto workers = find_workers(launch.last().operands);
    if (!workers) continue;
    const auto shape = shape_of(subject, launch);
    const auto cpus = cpus_of_task(subject, launch, shape);
    const auto processes = processes_of_task(launch, shape);
    if (cpus < 1 || !processes || workers->count * *processes <= cpus) continue;
    add_match(hits, {workers->word->place,
                     fmt::format("{} workers{} share {} of the task", workers->count,
                                 *processes > 1 ? fmt::format(" of each of {} processes", *processes) : "",
                                 util::counted(static_cast<unsigned long long>(cpus), "CPU")),
                     "use at most one worker per CPU, or request more --cpus-per-task"});
  }
  return hits;
}

} // namespace launch_workers_over_cpus

Rule rule_launch_workers_over_cpus() {
  using namespace launch_workers_over_cpus;
  return {
      .id = "launch/workers-over-cpus",
      .severity = diag::Severity::note,
      .title = "More data loader workers than CPUs",
      .why = "Each worker of a DataLoader is a separate process. Slurm binds them to the CPUs of their "
             "task, where they take turns: loading gets slower, and PyTorch warns that it can freeze.",
      .link = "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2
srun python train.py --num_workers 8
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=8
srun python train.py --num_workers 8
)"},
      .find = find,
  };
}

} // namespace hpcml::check
