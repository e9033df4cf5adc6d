// SPDX-License-Identifier: MIT
// Tasks that a job asks for and that nothing starts.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/node_reach.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_unused_tasks {

/// The option by which the job has several tasks; empty if it has one or a launcher may read the number.
std::string_view option_of(const slurm::JobOptions& request) {
  for (const std::string_view option : {"ntasks", "ntasks-per-node"})
    if (request.count(option) > 1 && request.place(option).length > 0) return option;
  return {};
}

/// True if the script or its comments show that the number of tasks is used.
bool uses_tasks(std::string_view text) {
  static constexpr std::array<std::string_view, 9> k_signs = {
      "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_TASKS", "SLURM_JOB_CPUS", "SLURM_CPUS_ON_NODE",
      "srun",         "mpi",          "horovod",     "parallel/"};
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](auto sign) { return text.find(sign) != std::string_view::npos; });
}

/// True if the launch is an agent on this node that starts another number of processes than the job has
/// tasks.
bool is_other_agent(const Launch& launch, long tasks) {
  const auto* agent = launch.agent();
  const auto* ranks = agent ? agent->find(model::OptionMeaning::ranks_per_node) : nullptr;
  const auto count = ranks && ranks->value && ranks->value->known()
                         ? util::parse_unsigned(ranks->value->text())
                         : std::nullopt;
  return count && static_cast<long>(*count) != tasks && !launch.step() && !launch.command->context.background;
}

/// True if the command starts one python program in the batch shell.
bool is_program(const Launch& launch) {
  const auto* python = launch.python();
  return python && python->module.empty() && !python->operands.empty() &&
         python->operands[0].text().find(".py") != std::string::npos && !launch.command->context.substitution;
}

/// True if the script starts programs one at a time, and shows all that it does.
bool starts_one_at_a_time(const LintContext& subject, long tasks) {
  const auto& launches = subject.launches;
  const auto starts = [&](const Launch& launch) {
    return is_program(launch) || is_other_agent(launch, tasks);
  };
  return shows_all_programs(subject) && std::any_of(launches.begin(), launches.end(), starts) &&
         std::none_of(launches.begin(), launches.end(), [&](const Launch& launch) {
           return (launch.agent() && !is_other_agent(launch, tasks)) || launch.command->context.background ||
                  may_reach_nodes(launch);
         });
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1 || subject.sizes.size() != 1 || subject.sizes[0].min_nodes > 1) return {};
  const auto& request = subject.requests[0];
  const auto option = option_of(request);
  const auto tasks = option.empty() ? 0 : request.count(option);
  if (option.empty() || !starts_one_at_a_time(subject, tasks) || loads_mpi(subject) ||
      uses_tasks(subject.text))
    return {};
  return {{request.place(option),
           fmt::format("{} tasks are requested, but one program runs: only srun and mpirun start a program "
                       "once per task",
                       tasks),
           request.has("cpus-per-task") ? fmt::format("use --{}=1", option)
                                        : fmt::format("use --{}=1 --cpus-per-task={}", option, tasks)}};
}

} // namespace launch_unused_tasks

Rule rule_launch_unused_tasks() {
  using namespace launch_unused_tasks;
  return {
      .id = "launch/unused-tasks",
      .severity = diag::Severity::note,
      .title = "Tasks that nothing starts",
      .why =
          "A batch script runs once, however many tasks the job has. --ntasks=12 for 12 cores is a request "
          "for 12 processes: Slurm may spread them over several nodes, on which nothing runs, and srun would "
          "start the program 12 times.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_ntasks",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=12 --gres=gpu:1
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=12 --gres=gpu:1
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
