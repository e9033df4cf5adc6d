// SPDX-License-Identifier: MIT
// GPUs that are asked for by the number zero.
#include <algorithm>
#include <array>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_no_gpus {

constexpr std::array<std::string_view, 4> k_options = {"gres", "gpus", "gpus-per-node", "gpus-per-task"};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Whether the launch starts what needs a GPU.
bool needs_gpus(const Launch& launch) {
  if (launch.agent()) return true;
  if (const auto* step = launch.step(); step && step->find("gpu-bind")) return true;
  const auto* python = launch.python();
  if (!python || python->operands.empty()) return false;
  return has(util::to_lower(python->operands[0].text()), "train") ||
         std::any_of(python->operands.begin() + 1, python->operands.end(), [](const auto& word) {
           const auto text = util::to_lower(word.text());
           return has(text, "cuda") && !has(text, "no-cuda") && !has(text, "no_cuda") && !has(text, "cpu");
         });
}

/// Whether the job is meant for CPUs by its name, its log's or its program's.
bool is_for_cpus(const LintContext& subject) {
  for (const auto option : {"job-name", "output", "error", "partition"})
    if (const auto* setting = subject.directive(option);
        setting && has(util::to_lower(setting->value.value_or("")), "cpu"))
      return true;
  return std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    const auto* python = launch.python();
    return python && !python->operands.empty() && has(util::to_lower(python->operands[0].text()), "cpu");
  });
}

/// Whether the job uses GPUs by what it starts: to a job on CPUs zero is right, and to one that only looks at
/// the node's GPUs.
bool uses_gpus(const LintContext& subject) {
  if (is_for_cpus(subject)) return false;
  const auto& launches = subject.launches;
  const bool looks = std::any_of(launches.begin(), launches.end(), [](const Launch& launch) {
    return launch.last().program == "nvidia-smi" || launch.last().program == "rocm-smi";
  });
  return std::any_of(launches.begin(), launches.end(), [looks](const Launch& launch) {
    return needs_gpus(launch) || (looks && (launch.python() || (launch.step() && !is_utility(launch))));
  });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& request : subject.requests)
    for (const auto option : k_options) {
      const auto items = request.gres.find(option);
      if (items == request.gres.end() || request.place(option).length == 0) continue;
      const bool zero =
          std::any_of(items->second.begin(), items->second.end(),
                      [](const slurm::GresItem& item) { return item.name == "gpu" && item.count == 0; });
      if (zero && uses_gpus(subject))
        hits.add({request.place(option), "this requests 0 GPUs",
                  "set the number of GPUs that the job uses, or remove the option from a job without GPUs"});
    }
  return hits;
}

} // namespace slurm_no_gpus

Rule rule_slurm_no_gpus() {
  using namespace slurm_no_gpus;
  return {
      .id = "slurm/no-gpus",
      .severity = diag::Severity::note,
      .title = "Request for zero GPUs",
      .why =
          "--gres=gpu:0 is taken and gives none: left over from a test without GPUs it leaves a training on "
          "the CPUs, or without any device, on a node full of GPUs.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_gres",
      .bad = {R"(#!/bin/bash
#SBATCH --gres=gpu:0
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --gres=gpu:1
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
