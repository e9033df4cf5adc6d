// SPDX-License-Identifier: MIT
// Types of GPU that the site does not have.
#include <algorithm>

#include "check/site_rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_gpu_type {

/// The names that Slurm has for the GPUs here; empty where one of them is not known.
std::vector<std::string> types_of(const SitePart& part) {
  std::vector<std::string> types;
  for (const auto* node : part.fit.nodes) {
    if (!node->gpu) continue;
    if (node->gpu->slurm_type.empty()) return {};
    if (std::find(types.begin(), types.end(), node->gpu->slurm_type) == types.end())
      types.push_back(node->gpu->slurm_type);
    types.insert(types.end(), node->gpu->aliases.begin(), node->gpu->aliases.end());
    for (const auto& slice : node->gpu->slices) {
      types.push_back(slice.name);
      types.insert(types.end(), slice.aliases.begin(), slice.aliases.end());
    }
  }
  return types;
}

/// Another type than the site has; one in other capitals is mended.
Hit wrong_type(const Subject& subject, const SitePart& part, const site::Verdict& verdict) {
  const auto types = types_of(part);
  const auto& wanted = verdict.name;
  Hit hit{part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
          "no node here has GPUs of type '" + wanted + "'",
          with_source("types: " + util::join(types, ", "), verdict.origin)};
  const auto same = std::find_if(types.begin(), types.end(), [&](const auto& type) {
    return util::to_lower(type) == util::to_lower(wanted);
  });
  if (same == types.end()) return hit;
  hit.severity = part.severity();
  hit.hint = "capitals count: its name is " + *same;
  hit.fix = replace_in(subject, hit.place, ":" + wanted, ":" + *same);
  if (hit.fix.empty()) hit.fix = replace_in(subject, hit.place, wanted, *same);
  return hit;
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/gpu-type")) {
      if (verdict.rule == site::Rule::type_unknown) {
        hits.push_back(wrong_type(subject, part, verdict));
        continue;
      }
      const auto types = types_of(part);
      hits.push_back({part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
                      part.site.name + " wants the type of GPU named",
                      with_source(types.empty() ? "" : "types: " + util::join(types, ", "), verdict.origin),
                      {},
                      severity_of(verdict)});
    }
  return hits;
}

} // namespace site_gpu_type

Rule rule_site_gpu_type() {
  using namespace site_gpu_type;
  return {
      "site/gpu-type",
      diag::Severity::warning,
      "A type of GPU that is not there",
      "Slurm takes the names of its own configuration only, with their capitals: invalid generic resource "
      "(gres) specification. Where there are several kinds, a job that names none gets any.",
      "https://slurm.schedmd.com/gres.conf.html#OPT_Type",
      {{"#!/bin/bash\n#SBATCH -A naiss2024-1-1\n#SBATCH -p alvis\n#SBATCH -t 10\n#SBATCH "
        "--gpus-per-node=a100:4\nsrun true\n",
        "alvis"},
       {"#!/bin/bash\n#SBATCH -A naiss2024-1-1\n#SBATCH -p alvis\n#SBATCH -t 10\n#SBATCH "
        "--gpus-per-node=H100:4\nsrun true\n",
        "alvis"},
       {"#!/bin/bash\n#SBATCH -A naiss2024-1-1\n#SBATCH -p alvis\n#SBATCH -t 10\n#SBATCH "
        "--gpus-per-node=4\nsrun true\n",
        "alvis"},
       {"#!/bin/bash\n#SBATCH -A def-me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=v100:4\nsrun true\n", "fir"}},
      {{"#!/bin/bash\n#SBATCH -A naiss2024-1-1\n#SBATCH -p alvis\n#SBATCH -t 10\n#SBATCH "
        "--gpus-per-node=A100:4\nsrun true\n",
        "alvis"},
       {"#!/bin/bash\n#SBATCH -A def-me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=h100:4\nsrun true\n", "fir"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=mi250:1\nsrun true\n",
        "lumi"}},
      find,
      nullptr,
      k_likely_refusal};
}

} // namespace hpcml::check
