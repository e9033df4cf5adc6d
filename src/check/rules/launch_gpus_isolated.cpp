// SPDX-License-Identifier: MIT
// Options that let each task see its own GPU only, where tasks want to copy between them.
#include <algorithm>
#include <array>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_gpus_isolated {

bool isolates(std::string_view bind) {
  return bind.find("single") != std::string_view::npos || bind.find("closest") != std::string_view::npos ||
         bind.find("per_task") != std::string_view::npos;
}

/// The option of the step that gives each task the nearest GPUs only.
const GivenOption* nearest_gpus(const Link& step) {
  const auto* bind = step.find("accel-bind");
  return bind && bind->value && bind->value->text().find('g') != std::string::npos ? bind : nullptr;
}

/// True if an option may take the isolation back, or sets another binding.
bool binds_otherwise(const LintContext& subject, const Link& step) {
  const auto& request = subject.requests[0];
  return !step.complete || step.find("gres-flags") || request.has("gres-flags") || request.has("tres-bind") ||
         step.find("tres-bind");
}

/// Where the isolation is asked for: at the step or for the job; nothing where it is not, or taken back.
std::optional<diag::TextRange> requested_at(const LintContext& subject, const Link& step) {
  const auto& request = subject.requests[0];
  if (binds_otherwise(subject, step)) return std::nullopt;
  if (const auto* bind = step.find("gpu-bind")) {
    if (!bind->value || !bind->value->known() || !isolates(bind->value->text())) return std::nullopt;
    return bind->place;
  }
  if (const auto* bind = nearest_gpus(step)) return bind->place;
  if (request.has("gpu-bind"))
    return isolates(request.text("gpu-bind")) ? std::optional(request.place("gpu-bind")) : std::nullopt;
  if (const auto* option = step.find("gpus-per-task")) return option->place;
  return request.has("gpus-per-task") ? std::optional(request.place("gpus-per-task")) : std::nullopt;
}

/// Whether the script is meant for AMD's GPUs, where each task may see its own only: by its modules,
/// variables and features.
bool is_for_amd(const LintContext& subject) {
  static constexpr std::array<std::string_view, 9> k_signs = {
      "rocm", "miopen", "rocr_visible", "hip_visible", "gfx90a", "gfx94", "mi250", "mi300", "rccl"};
  const auto text = util::to_lower(std::string(subject.text));
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](auto sign) { return text.find(sign) != std::string::npos; });
}

/// Whether the tasks work each for itself by the program's name: they copy nothing to each other.
bool is_independent(const Link& python) {
  static constexpr std::array<std::string_view, 11> k_names = {"generat", "infer",    "eval",  "process",
                                                               "convert", "download", "embed", "render",
                                                               "extract", "encode",   "sampl"};
  if (python.operands.empty()) return false;
  const auto path = util::to_lower(python.operands[0].text());
  const auto name = util::base_name(path);
  return std::any_of(k_names.begin(), k_names.end(),
                     [&](auto sign) { return name.find(sign) != std::string::npos; });
}

/// Whether the task is a rank of one training: a python program, or one with an option of distributed
/// training.
bool is_rank(const Launch& launch) {
  if (launch.agent() || launch.find("hpcml")) return false;
  if (const auto* python = launch.python()) return !is_independent(*python);
  const auto& words = launch.command->words;
  return std::any_of(words.begin(), words.end(), [](const auto& word) {
    const auto text = word.text();
    return text == "--distributed" || text == "--ddp" || text.ends_with("strategy=ddp");
  });
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1 ||
      (subject.site && subject.site->gpu_visibility.mode == model::GpuVisibilityMode::own))
    return {};
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_rank(launch) ||
        !shape_of(subject, launch).several_tasks_per_node())
      continue;
    const auto place = requested_at(subject, *step);
    if (!place) continue;
    const bool documented = subject.site && !subject.site->gpu_visibility.why.empty();
    add_match(
        hits,
        {*place,
         "each task sees only its own GPUs: it cannot copy from GPU to GPU directly (peer-to-peer, CUDA "
         "IPC), and a program that uses device LOCAL_RANK fails",
         "use --gpus-per-node, so that each task sees all GPUs and uses the one of its LOCAL_RANK",
         {},
         documented ? std::nullopt : std::optional(diag::Severity::note)});
  }
  if (!hits.empty() && !subject.site && is_for_amd(subject)) hits.clear();
  return hits;
}

} // namespace launch_gpus_isolated

Rule rule_launch_gpus_isolated() {
  using namespace launch_gpus_isolated;
  return {
      .id = "launch/gpus-isolated",
      .severity = diag::Severity::warning,
      .title = "GPUs hidden from the other tasks of the node",
      .why =
          "--gpus-per-task and --gpu-bind put each task's GPUs into a separate device cgroup. NCCL and RCCL "
          "then copy through host memory, or fail with \"invalid device ordinal\" where the program takes "
          "GPU number LOCAL_RANK.",
      .link = "https://github.com/NVIDIA/nccl/issues/1066",
      .bad = {R"(#!/bin/bash
#SBATCH -N1 -n4 --gpus-per-task=1
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1 -n4 --gpus-per-node=4
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
