// SPDX-License-Identifier: MIT
// A step of more nodes, tasks, GPUs or memory than the job has.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/model/mem_size.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_step_too_large {

/// CPUs that the job's tasks have together; nothing where the job may have more than it asks for.
std::optional<long> cpus_of_tasks(const LintContext& subject, const LaunchShape& job) {
  if (!job.tasks || subject.requests.size() != 1) return std::nullopt;
  const auto& request = subject.requests[0];
  if (request.overcommit || (!request.has("ntasks") && !request.has("ntasks-per-node"))) return std::nullopt;
  for (const char* option : {"exclusive", "cpus-per-gpu", "mincpus", "whole", "ntasks-per-core",
                             "threads-per-core", "extra-node-info", "cores-per-socket"})
    if (request.has(option)) return std::nullopt;
  if (!subject.fits.empty() && subject.fits[0].owns_nodes()) return std::nullopt;
  return *job.tasks * std::max(1L, request.count("cpus-per-task"));
}

/// CPUs of each task of the step, and whether all versions of Slurm count them so: from 22.05 to 23.02 srun
/// does not take the job's --cpus-per-task.
struct TaskCpus {
  long count = 1;
  bool all_versions = true;
};
TaskCpus cpus_of_task(const LintContext& subject, const Link& step, const LaunchShape& job) {
  if (const auto* option = step.find("cpus-per-task"))
    return {option->value ? number_of(*option->value, job).value_or(1) : 1, true};
  const auto of_job = std::max(1L, subject.requests[0].count("cpus-per-task"));
  const bool lost = subject.may_be("22.05-23.02");
  return subject.version_known && lost ? TaskCpus{} : TaskCpus{of_job, !lost};
}

/// The number of tasks that srun starts, and the option that makes it too many; nothing where it is not
/// known. A step with its own --cpus-per-task may take the number from SLURM_NTASKS.
struct StepTasks {
  const GivenOption* option = nullptr;
  std::optional<long> count;
};
StepTasks tasks_of(const LaunchShape& job, const Link& step) {
  if (const auto* tasks = step.find("ntasks"))
    return {tasks, tasks->value && tasks->value->known() ? number_of(*tasks->value, job) : std::nullopt};
  const auto* cpus = step.find("cpus-per-task");
  if (!cpus || !step.complete || find_any(step, {"nodes", "ntasks-per-node", "ntasks-per-gpu", "nodelist"}))
    return {};
  return {cpus, cpus->value && cpus->value->known() ? job.tasks : std::nullopt};
}

void find_tasks(const LintContext& subject, const LaunchShape& job, const Link& step, RuleMatches& hits) {
  const auto cpus = cpus_of_tasks(subject, job);
  const auto [tasks, count] = cpus ? tasks_of(job, step) : StepTasks{};
  if (!count || find_any(step, {"overcommit", "overlap"})) return;
  // Cores are given whole: on each node up to three threads more than asked for.
  const auto most = *cpus + 3 * job.nodes.value_or(1);
  const std::string hint =
      "request them with --ntasks above, or use $SLURM_NTASKS; more are possible only if "
      "the site allocates whole nodes";
  if (*count > most) {
    add_match(hits, {tasks->place,
                     fmt::format("srun starts {} tasks, but the job asks for CPUs for {}", *count, *cpus),
                     hint,
                     {},
                     diag::Severity::warning});
    return;
  }
  const auto each = cpus_of_task(subject, step, job);
  if (*count * each.count <= most) return;
  // Only a site's profile shows whether the job gets more CPUs than it requests.
  const bool shares_nodes = subject.fits.size() == 1 && subject.fits[0].sure;
  add_match(hits,
            {tasks->place,
             fmt::format("srun starts {} tasks with {} CPUs each, but the job has {} CPUs{}", *count,
                         each.count, *cpus, each.all_versions ? "" : " (Slurm before 22.05 and from 23.11)"),
             hint,
             {},
             shares_nodes && each.all_versions ? diag::Severity::error : diag::Severity::warning});
}

/// An option of a step with a number of GPUs of each node.
struct StepGpus {
  const GivenOption* option = nullptr;
  std::uint64_t count = 0;
};
StepGpus gpus_of(const LintContext& subject, const Link& step) {
  const auto* option = find_any(step, {"gres", "gpus-per-node"});
  if (!option || !option->value || !option->value->known()) return {};
  const auto text = option->value->text();
  const auto items = option->name == "gres" ? slurm::parse_gres(text, subject.version)
                                            : slurm::parse_gpus(text, subject.version);
  return {option, items ? slurm::gpu_count(*items) : 0};
}

void find_gpus(const LintContext& subject, const LaunchShape& job, const Link& step, RuleMatches& hits) {
  const auto [option, count] = gpus_of(subject, step);
  if (!option || !job.gpus_per_node || subject.requests[0].has("exclusive")) return;
  const auto most = static_cast<std::uint64_t>(*job.gpus_per_node);
  if (count <= most) return;
  add_match(hits, {option->place,
                   fmt::format("srun asks for {} of each node, but the job has {}",
                               util::counted(count, "GPU"), most),
                   "request them in the directives, or remove the option: a step has all GPUs of the job by "
                   "default"});
}

/// Compares the memory of a node that the step asks for with the job's.
void find_memory(const LintContext& subject, const Link& step, RuleMatches& hits) {
  const auto& job = subject.requests[0].memory_mb;
  const auto most = job.find("mem");
  const auto* option = step.find("mem");
  if (!option || !option->value || !option->value->known() || most == job.end() || most->second == 0 ||
      subject.requests[0].has("exclusive"))
    return;
  const auto memory = slurm::parse_memory_mb(option->value->text());
  if (!memory || *memory <= most->second) return;
  add_match(hits, {option->place,
                   fmt::format("srun asks for {} of memory of each node, but the job has {}",
                               model::MemSize::of_mib(*memory).to_slurm(),
                               model::MemSize::of_mib(most->second).to_slurm()),
                   "request it in the directives, or remove the option: a step has all memory of the job by "
                   "default"});
}

RuleMatches find(const LintContext& subject) {
  const auto job = shape_of_job(subject);
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_own(launch, *step) || find_any(*step, {"jobid", "het-group"}))
      continue;
    find_tasks(subject, job, *step, hits);
    find_gpus(subject, job, *step, hits);
    if (subject.requests.size() == 1) find_memory(subject, *step, hits);
    const auto* nodes = step->find("nodes");
    const auto count = job.nodes && nodes && nodes->value && nodes->value->known()
                           ? number_of(*nodes->value, job)
                           : std::nullopt;
    if (!count || *count <= *job.nodes) continue;
    add_match(hits,
              {nodes->place, fmt::format("srun asks for {} nodes, but the job has {}", *count, *job.nodes),
               "use $SLURM_NNODES, or remove the option: a step uses all nodes of the job by default",
               replace_end(subject, nodes->place, nodes->value->text(), "$SLURM_NNODES")});
  }
  return hits;
}

} // namespace launch_step_too_large

Rule rule_launch_step_too_large() {
  using namespace launch_step_too_large;
  return {
      .id = "launch/step-too-large",
      .severity = diag::Severity::error,
      .title = "Step larger than the job",
      .why = "A step runs inside its job. srun with more nodes than the directives ask for ends at once with "
             "\"Only allocated N nodes asked for M\", with more tasks than the job has CPUs "
             "with \"More processors requested than permitted\", with more GPUs with \"Invalid generic "
             "resource (gres) specification\", with more memory with \"Memory required by task is not "
             "available\".",
      .link = "https://slurm.schedmd.com/srun.html#OPT_nodes",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks=4
srun --nodes=2 python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
srun --nodes=2 python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
