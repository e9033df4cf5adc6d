// SPDX-License-Identifier: MIT
// An image started without the option that brings the GPU driver into it.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/masks.hpp"
#include "core/launch_chain/unknown_arguments.hpp"

namespace hpcml::check {
namespace launch_container_gpus {

/// Whether no GPU is asked for in there: the output becomes text, or Python's own tools run.
bool needs_none(const Launch& launch) {
  static constexpr std::array<std::string_view, 6> k_modules = {"ensurepip", "json.tool", "pip",
                                                                "site",      "sysconfig", "venv"};
  const auto* python = launch.python();
  if (launch.command->context.substitution || is_utility(launch)) return true;
  if (!python || launch.agent()) return false;
  return std::binary_search(k_modules.begin(), k_modules.end(), std::string_view(python->module)) ||
         find_any(*python, {"version", "V"}) != nullptr;
}

/// Whether an option or a variable brings the driver.
bool brings_gpus(const Launch& launch, const Link& container, const model::EngineRow& engine) {
  const auto variables = model::engine_variables({"_NV", "_NVCCLI"});
  return std::any_of(
             container.options.begin(), container.options.end(),
             [&](const auto& option) { return launch_chain::has_word(engine.gpu_options, option.name); }) ||
         std::any_of(variables.begin(), variables.end(),
                     [&](const auto& name) { return launch.variable(name) != nullptr; });
}

RuleMatches find(const LintContext& subject) {
  const auto* node = only_node(subject);
  if (!node || !node->gpu || node->gpu->vendor != model::GpuVendor::nvidia ||
      shape_of_job(subject).gpus_per_node.value_or(0) < 1)
    return {};
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* container = launch.container();
    const auto* engine = container ? model::find_engine_program(container->program) : nullptr;
    if (!engine || engine->gpu_options.empty() || !container->complete || container->operands.empty())
      continue;
    if ((!launch.python() && !launch.agent()) || needs_none(launch) ||
        brings_gpus(launch, *container, *engine))
      continue;
    const auto image = container->operands[0].place;
    const bool written = image.length > 1 && image.offset > 0 && image.offset < subject.text.size() &&
                         (subject.text[image.offset - 1] == ' ' || subject.text[image.offset - 1] == '\t');
    add_match(hits, {container->place,
                     fmt::format("{} without --nv gives the image no GPU driver, so CUDA finds no GPU",
                                 container->program),
                     fmt::format("use {} exec --nv …", container->program),
                     written ? std::vector<Edit>{{image.offset, 0, "--nv "}} : std::vector<Edit>()});
  }
  return hits;
}

} // namespace launch_container_gpus

Rule rule_launch_container_gpus() {
  using namespace launch_container_gpus;
  return {
      .id = "launch/container-gpus",
      .severity = diag::Severity::warning,
      .title = "A container without the GPU driver",
      .why = "The driver's libraries belong to the node and are not in the image. Without --nv "
             "torch.cuda.is_available() is False, and the training runs on the CPU "
             "or ends with \"Found no NVIDIA driver\".",
      .link = "https://apptainer.org/docs/user/main/gpu.html",
      .bad = {R"(#!/bin/bash
#SBATCH -p gpu2h100 --gpus-per-node=2 -N1
srun singularity exec x.sif python train.py
)",
              "zurada"},
      .good = {R"(#!/bin/bash
#SBATCH -p gpu2h100 --gpus-per-node=2 -N1
srun singularity exec --nv x.sif python train.py
)",
               "zurada"},
      .find = find,
  };
}

} // namespace hpcml::check
