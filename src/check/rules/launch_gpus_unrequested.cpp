// SPDX-License-Identifier: MIT
// A container with GPUs in a job that asks for none.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_gpus_unrequested {

/// True if a directive may bring GPUs: by itself, or as whole nodes of a partition that has them.
bool may_have_gpus(const LintContext& subject) {
  static constexpr std::array<std::string_view, 14> k_options = {
      "gres",          "gpus",        "gpus-per-node", "gpus-per-task", "gpus-per-socket",
      "tres-per-task", "tres-bind",   "partition",     "constraint",    "qos",
      "nodelist",      "reservation", "exclusive",     "clusters"};
  return std::any_of(subject.requests.begin(), subject.requests.end(), [](const auto& request) {
    return std::any_of(k_options.begin(), k_options.end(), [&](auto option) { return request.has(option); });
  });
}

RuleMatches find(const LintContext& subject) {
  if (subject.site || subject.requests.size() != 1 || subject.header.directives.empty() ||
      subject.sizes[0].min_nodes > 1 || may_have_gpus(subject) ||
      subject.text.find("gres") != std::string_view::npos ||
      subject.text.find("--gpus") != std::string_view::npos)
    return {};
  for (const auto& launch : subject.launches) {
    const auto* container = launch.container();
    const auto* option = container ? find_any(*container, {"nv", "nvccli", "rocm"}) : nullptr;
    if (option)
      return {{option->place,
               fmt::format("--{} needs a GPU of the job, but the job requests none", option->name),
               "add --gres=gpu:1, or remove the option from a job for CPUs"}};
  }
  return {};
}

} // namespace launch_gpus_unrequested

Rule rule_launch_gpus_unrequested() {
  using namespace launch_gpus_unrequested;
  return {
      .id = "launch/gpus-unrequested",
      .severity = diag::Severity::note,
      .title = "Container with GPUs in a job without GPUs",
      .why =
          "--nv shows a container the driver, not a GPU: a job gets GPUs by --gres or --gpus only. Without "
          "them the program runs on the CPUs, or uses a GPU that belongs to another job.",
      .link = "https://slurm.schedmd.com/gres.html",
      .bad = {R"(#!/bin/bash
#SBATCH --mem=100G
srun singularity exec --nv image.sif python infer.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --mem=100G --gres=gpu:1
srun singularity exec --nv image.sif python infer.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
