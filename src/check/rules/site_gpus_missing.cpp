// SPDX-License-Identifier: MIT
// Jobs without GPUs in partitions that are for GPUs.
#include "check/site_rule.hpp"
#include <algorithm>
#include <array>

namespace hpcml::check {
namespace site_gpus_missing {

/// What only jobs with GPUs have in their scripts.
bool speaks_of_gpus(std::string_view text) {
  static constexpr std::array<std::string_view, 8> k_signs = {
      "nvidia-smi", "rocm-smi",          "NCCL_", " --nv ", " --rocm ", "CUDA_VISIBLE_DEVICES",
      "SLURM_GPUS", "nproc_per_node=gpu"};
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](const auto sign) { return text.find(sign) != std::string_view::npos; });
}

/// A job without GPUs may be right here, as for preparing data, or come to another partition.
bool complete(const LintContext& subject, const ComponentSiteEvaluation&,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  if (violation.certainty == site_rules::Confidence::likely && !speaks_of_gpus(subject.text))
    match.severity = diag::Severity::note;
  return true;
}

} // namespace site_gpus_missing

Rule rule_site_gpus_missing() {
  using namespace site_gpus_missing;
  return {
      .id = "site/gpus-missing",
      .severity = diag::Severity::warning,
      .title = "GPU partition without a GPU request",
      .why =
          "A job gets the GPUs that it asks for: without a request torch.cuda.is_available() is false on a "
          "node full of GPUs.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_gpus",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
srun true
)",
              "lumi"},
      .good = k_lumi_job,
      .find =
          [](const LintContext& subject) { return match_violations(subject, "site/gpus-missing", complete); },
  };
}

} // namespace hpcml::check
