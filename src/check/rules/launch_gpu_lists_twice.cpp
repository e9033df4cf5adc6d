// SPDX-License-Identifier: MIT
// ROCR_VISIBLE_DEVICES together with a second list that counts within the first.
#include "check/launch_facts.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace launch_gpu_lists_twice {

/// Whether the GPUs that it names are known not to be the first ones: a task's own, or a list that does not
/// count from 0.
bool moves(const shell::Argument& value) {
  if (!value.known()) return reading_piece(value, {"SLURM_LOCALID", "LOCAL_RANK", "SLURM_PROCID"}) != nullptr;
  const auto text = value.text();
  std::string counted = "0";
  for (int i = 1; counted.size() < text.size(); ++i) counted += "," + std::to_string(i);
  return !text.empty() && counted != text;
}

RuleMatches find(const LintContext& subject) {
  if (subject.text.find("ROCR_VISIBLE_DEVICES") == std::string_view::npos) return {};
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    if (!launch.step() && !launch.agent() && !launch.python() && !launch.container()) continue;
    const auto* first = launch.variable("ROCR_VISIBLE_DEVICES");
    if (!first || !moves(*first)) continue;
    for (const std::string_view name : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
      const auto* second = launch.variable(name);
      if (!second || !moves(*second)) continue;
      add_match(hits, {second->place,
                       fmt::format("{} counts only the GPUs that ROCR_VISIBLE_DEVICES leaves, so both "
                                   "together name other GPUs or none",
                                   name),
                       "set ROCR_VISIBLE_DEVICES only"});
    }
  }
  return hits;
}

} // namespace launch_gpu_lists_twice

Rule rule_launch_gpu_lists_twice() {
  using namespace launch_gpu_lists_twice;
  return {
      .id = "launch/gpu-lists-twice",
      .severity = diag::Severity::warning,
      .title = "ROCR_ and HIP_VISIBLE_DEVICES together",
      .why = "The runtime applies ROCR_VISIBLE_DEVICES first and numbers what is left from 0; "
             "HIP_VISIBLE_DEVICES "
             "chooses among those. With ROCR=3 and HIP=3 there is no GPU at "
             "all: \"no HIP GPUs are available\".",
      .link = "https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html",
      .bad = {R"(#!/bin/bash
export ROCR_VISIBLE_DEVICES=4,5
export HIP_VISIBLE_DEVICES=4,5
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1 -n8
srun bash -c 'export ROCR_VISIBLE_DEVICES=$SLURM_LOCALID; python train.py'
)"},
      .find = find,
  };
}

} // namespace hpcml::check
