// SPDX-License-Identifier: MIT
// GPUs, and the one CPU that a job gets without an option.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_cpus_unset {

/// True if an option sets the CPUs of a task or a GPU.
bool has_cpu_option(const slurm::JobOptions& request) {
  static constexpr std::array<std::string_view, 8> k_options = {
      "cpus-per-task",    "cpus-per-gpu",  "ntasks-per-gpu", "extra-node-info",
      "cores-per-socket", "tres-per-task", "mincpus",        "ntasks-per-socket"};
  return std::any_of(k_options.begin(), k_options.end(), [&](auto option) { return request.has(option); });
}

bool has_whole_nodes(const slurm::JobOptions& request) {
  return request.sharing == slurm::NodeSharing::exclusive || request.text("mem") == "0";
}

/// True if an option sets the job's CPUs, or gives it whole nodes.
bool sets_cpus(const slurm::JobOptions& request) {
  return has_whole_nodes(request) || request.count("ntasks-per-node") > 1 || request.count("ntasks") > 1 ||
         has_cpu_option(request);
}

/// The option by which the job has GPUs.
std::string_view option_of_gpus(const slurm::JobOptions& request) {
  for (const std::string_view option : {"gres", "gpus-per-node", "gpus", "gpus-per-task"})
    if (request.gpus(option) > 0 && request.place(option).length > 0) return option;
  return {};
}

/// True if a program of the job uses the GPUs of its only task: one that the batch script starts, or a step
/// that sets no CPUs.
bool uses_gpus(const Launch& launch) {
  if (!launch.python() && !launch.agent()) return false;
  const auto* step = launch.step();
  return does_work(launch) &&
         (!step || (step->program == "srun" && step->complete &&
                    !find_any(*step, {"cpus-per-task", "cpus-per-gpu", "cpu-bind", "jobid", "ntasks"})));
}

/// Reports ranks of a step that have a GPU and one CPU each.
RuleMatches find_ranks(const LintContext& subject) {
  const auto& request = subject.requests[0];
  const auto option = option_of_gpus(request);
  if (subject.sizes[0].tasks < 2 || option.empty() || has_whole_nodes(request) || has_cpu_option(request))
    return {};
  const bool per_rank =
      std::any_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
        const auto shape = shape_of(subject, launch);
        return launch.step() && uses_gpus(launch) && shape.tasks_per_node && shape.gpus_per_node &&
               *shape.tasks_per_node > 1 && *shape.gpus_per_node >= *shape.tasks_per_node;
      });
  if (!per_rank) return {};
  return {
      {request.place(option),
       "GPUs for several tasks and no --cpus-per-task: each task has one CPU, unless the partition adds some",
       "add --cpus-per-task: at least one CPU per task, and more for data loaders"}};
}

RuleMatches find(const LintContext& subject) {
  // A site may give CPUs with each GPU, which its profile does not state.
  if (subject.site || subject.requests.size() != 1 || subject.sizes.size() != 1) return {};
  if (auto hits = find_ranks(subject); !hits.empty()) return hits;
  const bool several_nodes = subject.sizes[0].min_nodes > 1;
  if (sets_cpus(subject.requests[0])) return {};
  const auto& request = subject.requests[0];
  const auto option = option_of_gpus(request);
  const auto uses_them = [&](const Launch& launch) {
    return uses_gpus(launch) && (!several_nodes || shape_of(subject, launch).several_nodes);
  };
  if (option.empty() || has_gap(request.text(option)) ||
      std::none_of(subject.launches.begin(), subject.launches.end(), uses_them))
    return {};
  return {{request.place(option),
           fmt::format("{} and no --cpus-per-task: {} has one CPU, unless the partition adds CPUs per GPU",
                       util::counted(request.gpus(option), "GPU"), several_nodes ? "each task" : "the job"),
           "add --cpus-per-task: at least one CPU per GPU, and more for data loaders"}};
}

} // namespace launch_cpus_unset

Rule rule_launch_cpus_unset() {
  using namespace launch_cpus_unset;
  return {
      .id = "launch/cpus-unset",
      .severity = diag::Severity::note,
      .title = "GPUs with one CPU",
      .why = "Without an option a task has one CPU, and only clusters with DefCpuPerGPU add more. On it the "
             "processes of all GPUs and their data loaders take turns, and the GPUs wait for data.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_cpus-per-task",
      .bad = {R"(#!/bin/bash
#SBATCH --gres=gpu:4
torchrun --standalone --nproc_per_node=4 train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --gres=gpu:4 --cpus-per-task=32
torchrun --standalone --nproc_per_node=4 train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
