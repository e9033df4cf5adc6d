// SPDX-License-Identifier: MIT
// mpirun with another number of processes than the job has tasks.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_mpi_tasks {

/// An mpirun and the number of processes that it visibly starts.
struct MpiStart {
  const GivenOption* option = nullptr;
  long count = 0;
  std::string program;
};

/// True if an option may change how many processes there is room for: hosts, places, more than one per core.
bool has_own_placement(const Link& step) {
  static constexpr std::array<std::string_view, 21> k_options = {"H",
                                                                 "N",
                                                                 "c",
                                                                 "configfile",
                                                                 "f",
                                                                 "host",
                                                                 "hostfile",
                                                                 "hosts",
                                                                 "machinefile",
                                                                 "nooversubscribe",
                                                                 "npernode",
                                                                 "npersocket",
                                                                 "o",
                                                                 "overload-allowed",
                                                                 "oversubscribe",
                                                                 "perhost",
                                                                 "pernode",
                                                                 "ppn",
                                                                 "rankfile",
                                                                 "rf",
                                                                 "use-hwthread-cpus"};
  return std::any_of(step.options.begin(), step.options.end(), [&](const GivenOption& option) {
    const bool by_number = option.name == "map-by" && option.value && // "ppr:4:node"
                           option.value->text().find("ppr") != std::string::npos;
    return by_number || util::contains(k_options, std::string_view(option.name));
  });
}

/// The mpirun of the batch script itself that the launch begins with; nothing where it does not.
const Link* own_mpirun(const Launch& launch) {
  const auto& context = launch.command->context;
  const auto& step = launch.chain.front();
  if (step.role != launch_chain::Role::step) return nullptr;
  const bool is_mpi = step.program == "mpirun" || step.program == "mpiexec" || step.program == "horovodrun";
  return is_mpi && !launch.command->parent && !context.uncalled && !context.unreached && !context.inexact
             ? &step
             : nullptr;
}

/// What the launch starts by mpirun; nothing where that is not visible or it starts several programs.
std::optional<MpiStart> read_start(const Launch& launch, const LaunchShape& job) {
  const auto* step = own_mpirun(launch);
  if (!step || !step->complete || has_own_placement(*step) || has_word(launch.command->words, ":"))
    return std::nullopt;
  const auto* option = find_any(*step, {"n", "np"});
  if (!option || !option->value || !option->value->known()) return std::nullopt;
  const auto count = number_of(*option->value, job);
  return count && *count > 0 ? std::optional(MpiStart{option, *count, step->program}) : std::nullopt;
}

/// True if the processes may have several threads each, on the CPUs of several tasks.
bool may_have_threads(const Launch& launch) {
  const auto& words = launch.command->words;
  const auto* threads = launch.variable("OMP_NUM_THREADS");
  return (threads && threads->text() != "1") || std::any_of(words.begin(), words.end(), [](const auto& word) {
           const auto text = util::to_lower(word.text());
           return text.find("thread") != std::string::npos || text.find("omp") != std::string::npos ||
                  text.find("cpu") != std::string::npos || text.find("core") != std::string::npos ||
                  text.find("worker") != std::string::npos;
         });
}

/// True if the job itself sets its number of tasks, and nothing lets it have more processes.
bool has_task_count(const LintContext& subject) {
  if (subject.requests.size() != 1) return false;
  const auto& request = subject.requests[0];
  return (request.has("ntasks") || request.has("ntasks-per-node")) && !request.overcommit &&
         !request.has("ntasks-per-core") && !has_gap(request.text("ntasks")) &&
         subject.text.find("versubscribe") == std::string_view::npos &&
         subject.text.find("VERSUBSCRIBE") == std::string_view::npos;
}

RuleMatch make_excess(const MpiStart& start, long tasks) {
  return {start.option->place,
          fmt::format("{} starts {} processes, but the job has {}: Open MPI ends with \"not enough slots\", "
                      "others share the CPUs of the tasks",
                      start.program, start.count,
                      util::counted(static_cast<unsigned long long>(tasks), "task")),
          fmt::format("request them with --ntasks={}, or use -n $SLURM_NTASKS", start.count)};
}

/// True if the launch leaves tasks unused, and only those: it runs alone, with one thread for each process.
bool uses_fewer(const Launch& launch, const MpiStart& start, long tasks) {
  const auto& context = launch.command->context;
  return start.count > 1 && start.count < tasks && !context.background && !context.loop &&
         !may_have_threads(launch);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const bool starts_mpi = std::any_of(subject.launches.begin(), subject.launches.end(),
                                      [](const Launch& launch) { return own_mpirun(launch) != nullptr; });
  if (!starts_mpi || !has_task_count(subject)) return hits;
  const auto job = shape_of_job(subject);
  if (!job.tasks) return hits;
  std::optional<MpiStart> largest; // of those with fewer processes than tasks
  bool others = false;             // steps that may use all tasks
  for (const auto& launch : subject.launches) {
    if (!launch.step()) continue;
    const auto start = read_start(launch, job);
    if (start && start->count > *job.tasks) add_match(hits, make_excess(*start, *job.tasks));
    const bool fewer = start && uses_fewer(launch, *start, *job.tasks);
    others = others || !fewer;
    if (fewer && (!largest || start->count > largest->count)) largest = start;
  }
  if (largest && !others)
    add_match(hits, {largest->option->place,
                     fmt::format("{} starts {} processes at most, and the job has {} tasks", largest->program,
                                 largest->count, *job.tasks),
                     "use -n $SLURM_NTASKS, or request fewer tasks",
                     {},
                     diag::Severity::note});
  return hits;
}

} // namespace launch_mpi_tasks

Rule rule_launch_mpi_tasks() {
  using namespace launch_mpi_tasks;
  return {
      .id = "launch/mpi-tasks",
      .severity = diag::Severity::warning,
      .title = "mpirun with another number of processes than tasks",
      .why =
          "mpirun has one slot for each task of the job, however many CPUs a task has. Open MPI refuses to "
          "start more processes; other MPIs run several of them on the CPUs of one task. With fewer, "
          "CPUs that are paid for stay idle.",
      .link = "https://docs.open-mpi.org/en/main/launching-apps/slurm.html",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=16
mpirun -np 16 ./solver
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=16
mpirun -np 16 ./solver
)"},
      .find = find,
  };
}

} // namespace hpcml::check
