// SPDX-License-Identifier: MIT
// Several GPUs, and the one CPU that a job gets without an option.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_cpus_unset {

/// True if an option sets the job's CPUs, or gives it whole nodes.
bool sets_cpus(const slurm::JobOptions& request) {
  static constexpr std::array<std::string_view, 9> k_options = {
      "cpus-per-task",    "cpus-per-gpu",  "ntasks-per-gpu", "gpus-per-task",    "extra-node-info",
      "cores-per-socket", "tres-per-task", "mincpus",        "ntasks-per-socket"};
  return request.sharing == slurm::NodeSharing::exclusive || request.text("mem") == "0" ||
         request.count("ntasks-per-node") > 1 || request.count("ntasks") > 1 ||
         std::any_of(k_options.begin(), k_options.end(), [&](auto option) { return request.has(option); });
}

/// The option by which the job has several GPUs.
std::string_view option_of_gpus(const slurm::JobOptions& request) {
  for (const std::string_view option : {"gres", "gpus-per-node", "gpus"})
    if (request.gpus(option) > 1 && request.place(option).length > 0) return option;
  return {};
}

RuleMatches find(const LintContext& subject) {
  // A site may give CPUs with each GPU, which its profile does not state.
  if (subject.site || subject.requests.size() != 1 || subject.sizes.size() != 1 ||
      subject.sizes[0].min_nodes > 1 || sets_cpus(subject.requests[0]))
    return {};
  const auto& request = subject.requests[0];
  const auto option = option_of_gpus(request);
  if (option.empty() ||
      !std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
        return !launch.step() && (launch.python() || launch.agent());
      }))
    return {};
  return {
      {request.place(option),
       fmt::format("{} GPUs and no --cpus-per-task: the job has one CPU, unless the partition adds CPUs per "
                   "GPU",
                   request.gpus(option)),
       "add --cpus-per-task: at least one CPU per GPU, and more for data loaders"}};
}

} // namespace launch_cpus_unset

Rule rule_launch_cpus_unset() {
  using namespace launch_cpus_unset;
  return {
      .id = "launch/cpus-unset",
      .severity = diag::Severity::note,
      .title = "Several GPUs with one CPU",
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
