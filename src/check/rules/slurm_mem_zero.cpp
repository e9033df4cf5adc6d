// SPDX-License-Identifier: MIT
// All memory of a shared node for a part of its GPUs.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_mem_zero {

Hits find(const Subject& subject) {
  Hits hits;
  for (std::size_t i = 0; i < subject.fits.size(); ++i) {
    const auto& request = subject.requests[i];
    const auto& fit = subject.fits[i];
    const auto memory = request.memory_mb.find("mem");
    if (memory == request.memory_mb.end() || memory->second != 0 || request.place("mem").length == 0 ||
        request.sharing != slurm::Sharing::site_default)
      continue;
    const auto gpus = request.gpus_per_node();
    const auto is_shared = [](const model::Partition* partition) {
      return !partition->exclusive && !partition->slurm_exclusive.value_or(false);
    };
    const auto has_more = [&](const model::NodeType* node) {
      return node->gpu && node->gpu->per_node > gpus;
    };
    if (gpus == 0 || fit.partitions.empty() || fit.nodes.empty() ||
        !std::all_of(fit.partitions.begin(), fit.partitions.end(), is_shared) ||
        !std::all_of(fit.nodes.begin(), fit.nodes.end(), has_more))
      continue;
    hits.push_back(
        {request.place("mem"),
         "--mem=0 takes all memory of a node that others share, for " + std::to_string(gpus) + " of its GPUs",
         "ask for the GPUs' share of the memory, or for the whole node with --exclusive"});
  }
  return hits;
}

} // namespace slurm_mem_zero

Rule rule_slurm_mem_zero() {
  using namespace slurm_mem_zero;
  return {"slurm/mem-zero",
          diag::Severity::warning,
          "All memory of a shared node",
          "--mem=0 asks for the whole memory of each node. On nodes that jobs share the job waits until a "
          "node is empty, keeps the "
          "others' GPUs idle, and is often charged for the whole node.",
          "https://slurm.schedmd.com/sbatch.html#OPT_mem",
          {{"#!/bin/bash\n#SBATCH -p small-g -N1 --gpus-per-node=1 --mem=0\n", "lumi"},
           {"#!/bin/bash\n#SBATCH --partition=small-g\n#SBATCH --nodes=1 --gres=gpu:2\n#SBATCH --mem=0\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -p dev-g -N1 --gpus-per-node=4 --mem=0\n", "lumi"}},
          {{"#!/bin/bash\n#SBATCH -p standard-g -N1 --gpus-per-node=8 --mem=0\n", "lumi"},
           {"#!/bin/bash\n#SBATCH -p small-g -N1 --gpus-per-node=1 --mem=60G\n", "lumi"},
           "#!/bin/bash\n#SBATCH -p small-g -N1 --gpus-per-node=1 --mem=0\n"},
          find};
}

} // namespace hpcml::check
