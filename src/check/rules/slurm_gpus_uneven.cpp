// SPDX-License-Identifier: MIT
// Numbers of GPUs that differ between nodes.
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_gpus_uneven {

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1 || subject.sizes.size() != 1) return {};
  const auto& request = subject.requests[0];
  const auto& size = subject.sizes[0];
  const auto gpus = request.gpus("gpus");
  if (!size.has_exact_nodes() || size.min_nodes < 2 || gpus == 0 || request.place("gpus").length == 0 ||
      request.has("gpus-per-node") || gpus % static_cast<unsigned long>(size.min_nodes) == 0)
    return {};
  return {{request.place("gpus"),
           fmt::format("{} on {} nodes: the nodes get different numbers of GPUs", util::counted(gpus, "GPU"),
                       size.min_nodes),
           "use --gpus-per-node"}};
}

} // namespace slurm_gpus_uneven

Rule rule_slurm_gpus_uneven() {
  using namespace slurm_gpus_uneven;
  return {
      .id = "slurm/gpus-uneven",
      .severity = diag::Severity::note,
      .title = "GPUs that do not divide by the nodes",
      .why = "--gpus is the number of all nodes together. If it does not divide by the number of nodes, they "
             "get different numbers of GPUs, and a launcher that starts as many processes on each fails on "
             "one of them.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_gpus",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --gpus=7 --time=10
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --gpus=8 --time=10
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
