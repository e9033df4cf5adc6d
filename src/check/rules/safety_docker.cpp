// SPDX-License-Identifier: MIT
// Containers that a daemon starts.
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace safety_docker {

RuleMatches find(const LintContext& subject) {
  if (subject.header.directives.empty()) return {};
  for (const auto& launch : subject.launches)
    for (const auto& link : launch.chain)
      if ((link.program == "docker" || link.program == "nvidia-docker") && is_own(launch, link) &&
          has_word(launch.command->words, "run") && !launch.command->context.substitution)
        return {
            {link.place,
             "docker starts the container outside the job: Slurm's limits do not hold, and scancel may leave "
             "it running",
             "use apptainer, or another engine that starts the container in the job"}};
  return {};
}

} // namespace safety_docker

Rule rule_safety_docker() {
  using namespace safety_docker;
  return {
      .id = "safety/docker",
      .severity = diag::Severity::note,
      .title = "docker in a job",
      .why = "docker asks a daemon to start the container, which is not a process of the job. The job's "
             "limits of memory, CPUs and GPUs do not hold for it, CUDA_VISIBLE_DEVICES may count other GPUs, "
             "and scancel or the time limit may leave it running.",
      .link = "https://slurm.schedmd.com/containers.html",
      .bad = {R"(#!/bin/bash
#SBATCH --gres=gpu:1
docker run --rm --gpus all image python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --gres=gpu:1
apptainer exec --nv image.sif python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
