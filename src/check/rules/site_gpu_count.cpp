// SPDX-License-Identifier: MIT
// Numbers of GPUs that the site does not give.
#include "check/site_rule.hpp"
#include "site/gpu_names.hpp"
#include "site/limits.hpp"

namespace hpcml::check {
namespace site_gpu_count {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const auto& fit = part.fit;
    if (part.demand.gpus_per_node == 0 || fit.nodes.empty() || !fit.nodes.front()->gpu) continue;
    const auto& gpu = *fit.nodes.front()->gpu;
    const auto& rule = part.gpu_request();
    const bool spread =
        part.size.gpus_per_node == 0 && !part.size.nodes_given; // over as many nodes as Slurm takes
    const bool part_of_gpu = site::find_slice(gpu, part.demand.gpu_type) && rule.allowed_counts.empty();
    if (spread || part_of_gpu || part.demand.gpus_per_node > gpu.per_node) continue;
    for (auto& fault :
         site::gpu_count_faults(part.site, rule, part.demand.nodes, part.demand.gpus_per_node, gpu.per_node))
      hits.push_back({part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
                      std::move(fault.what),
                      std::move(fault.hint),
                      {},
                      part.severity()});
  }
  return hits;
}

} // namespace site_gpu_count

Rule rule_site_gpu_count() {
  using namespace site_gpu_count;
  return {"site/gpu-count",
          diag::Severity::error,
          "A number of GPUs that the site does not give",
          "Sites that give whole nodes or fixed parts of them refuse other numbers of GPUs.",
          "https://docs.alliancecan.ca/wiki/Trillium_Quickstart",
          {{"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=2\nsrun true\n", "trillium"},
           {"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=1\n#SBATCH -N2\nsrun true\n",
            "trillium"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=2\n#SBATCH -N2\nsrun "
            "true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -A aip-me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=h100:2\nsrun true\n",
            "tamia"}},
          {{"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=1\nsrun true\n", "trillium"},
           {"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=4\n#SBATCH -N2\nsrun true\n",
            "trillium"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=2\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -A aip-me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=h100:4\n#SBATCH "
            "-N2\nsrun true\n",
            "tamia"}},
          find};
}

} // namespace hpcml::check
