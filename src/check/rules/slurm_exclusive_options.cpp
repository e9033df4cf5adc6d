// SPDX-License-Identifier: MIT
// Options that exclude each other.
#include "check/fix.hpp"
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_exclusive_options {

bool only_gpus(const std::vector<slurm::GresItem>& items) {
  return items.size() == 1 && items[0].name == "gpu";
}

/// The same GPUs asked for twice: once is enough.
std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  for (const auto& request : subject.requests) {
    const auto gres = request.gres.find("gres");
    const auto gpus = request.gres.find("gpus-per-node");
    if (gres == request.gres.end() || gpus == request.gres.end() ||
        request.place("gres").offset != place.offset)
      continue;
    const auto& a = gres->second;
    const auto& b = gpus->second;
    if (!only_gpus(a) || !only_gpus(b) || a[0].type != b[0].type || a[0].count != b[0].count) continue;
    if (!subject.site || subject.site->gpu_request.style != model::GpuOptionStyle::gres)
      return {remove_option(subject.text, place)};
    // The form that the site takes stays; the other one's variable goes with it.
    if (subject.text.find("SLURM_GPUS_PER_NODE") != std::string_view::npos) return {};
    return {remove_option(subject.text, request.place("gpus-per-node"))};
  }
  return {};
}

} // namespace slurm_exclusive_options

Rule rule_slurm_exclusive_options() {
  using namespace slurm_exclusive_options;
  return {
      .id = "slurm/exclusive-options",
      .severity = diag::Severity::error,
      .title = "Mutually exclusive options",
      .why =
          "sbatch takes only one of --mem, --mem-per-cpu and --mem-per-gpu, one of --gpus-per-task and "
          "--ntasks-per-gpu, from 26.05 "
          "one of --gpus-per-node and --gres=gpu: with two of them it stops with \"mutually exclusive\", and "
          "there is no job.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_mem",
      .bad = {R"(#!/bin/bash
#SBATCH --gpus-per-node=4
#SBATCH --gres=gpu:4
)",
              "", "26.05"},
      .good = {R"(#!/bin/bash
#SBATCH --mem=16G
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
