// SPDX-License-Identifier: MIT
// Containers that start with an empty environment, in which tasks do not know their rank.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_container_environment {

/// The option that empties the environment; nothing where the engine keeps it or gets variables by options.
const GivenOption* emptying_option(const Link& container) {
  if (container.program != "apptainer" && container.program != "singularity") return nullptr;
  if (!container.sets.empty() || !container.passes.empty() || !container.complete) return nullptr;
  return find_any(container, {"cleanenv", "e", "containall", "C"});
}

/// Whether the text has any of these.
bool has_any(std::string_view text, std::initializer_list<std::string_view> signs) {
  return std::any_of(signs.begin(), signs.end(),
                     [&](auto sign) { return text.find(sign) != std::string_view::npos; });
}

/// Whether the program in the container is a rank that looks for its place in the environment.
bool needs_environment(const LintContext& subject, const Launch& launch, const Link& container) {
  for (const auto& word : launch.command->words)
    if (word.place.offset > container.place.offset &&
        reading_piece(word, {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_NTASKS"}))
      return launch.command->parent.has_value(); // in the container's own shell
  for (const auto& setting : launch.command->own)
    if (reading_piece(setting.value, {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"}))
      return launch.command->parent.has_value();
  return launch.python() && !launch.agent() &&
         has_any(subject.text, {"MASTER_ADDR", "WORLD_SIZE", "LOCAL_RANK", "ddp", "DDP"});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* container = launch.container();
    const auto* step = launch.step();
    const auto* option = container ? emptying_option(*container) : nullptr;
    if (!option || !step || step->place.offset > container->place.offset ||
        shape_of(subject, launch).tasks.value_or(1) < 2 || !needs_environment(subject, launch, *container))
      continue;
    add_match(hits, {option->place,
                     fmt::format("{} empties the environment: the program sees neither SLURM_PROCID nor "
                                 "MASTER_ADDR, so each task is a world of 1",
                                 option->name.size() == 1 ? "-" + option->name : "--" + option->name),
                     "remove it, or pass the variables by --env or APPTAINERENV_NAME"});
  }
  if (!hits.empty() && has_any(subject.text, {"APPTAINERENV_", "SINGULARITYENV_", "--env-file"}))
    hits.clear();
  return hits;
}

} // namespace launch_container_environment

Rule rule_launch_container_environment() {
  using namespace launch_container_environment;
  return {
      .id = "launch/container-environment",
      .severity = diag::Severity::warning,
      .title = "Container without the ranks' variables",
      .why = "--cleanenv and --containall start the image with an empty environment. Variables of Slurm and "
             "of the script do not reach the program: every task takes itself for the only one and trains "
             "its own model.",
      .link = "https://apptainer.org/docs/user/latest/environment_and_metadata.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun apptainer exec --nv --cleanenv x.sif python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun apptainer exec --nv x.sif python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
