// SPDX-License-Identifier: MIT
// GPUs per node asked for by two options.
#include "check/fix.hpp"
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_gpus_twice {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!subject.version_known || subject.version >= slurm::Version::v26_05)
    return hits; // refused, which is reported already
  for (const auto& request : subject.requests) {
    const auto per_node = request.gres.find("gpus-per-node");
    const auto gres = request.gres.find("gres");
    if (per_node == request.gres.end() || request.gpus("gres") == 0 ||
        request.place("gpus-per-node").length == 0)
      continue;
    const bool same = request.gpus("gres") == request.gpus("gpus-per-node");
    RuleMatch hit{request.place("gpus-per-node"),
                  same ? "--gres requests the same GPUs" : "--gres requests another number of GPUs, and wins",
                  "remove one of them: 26.05 rejects both together"};
    // Only --gpus-per-node sets that variable.
    const bool read = subject.text.find("SLURM_GPUS_PER_NODE") != std::string_view::npos;
    if (same && !read && gres->second.size() == 1 && per_node->second.size() == 1 &&
        gres->second[0].type == per_node->second[0].type)
      hit.fix = {remove_option(subject.text, hit.place)};
    hits.push_back(std::move(hit));
  }
  return hits;
}

} // namespace slurm_gpus_twice

Rule rule_slurm_gpus_twice() {
  using namespace slurm_gpus_twice;
  return {
      .id = "slurm/gpus-twice",
      .severity = diag::Severity::warning,
      .title = "GPUs requested twice",
      .why =
          "Up to 25.11 --gpus-per-node and --gres=gpu together are taken silently, and where they differ the "
          "job gets what --gres says. From 26.05 sbatch refuses both together, also when one comes from the "
          "environment.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_gpus-per-node",
      .bad = {R"(#!/bin/bash
#SBATCH --gpus-per-node=4
#SBATCH --gres=gpu:4
)"},
      .good = {R"(#!/bin/bash
#SBATCH --gpus-per-node=4
)"},
      .find = find,
  };
}

} // namespace hpcml::check
