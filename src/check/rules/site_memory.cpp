// SPDX-License-Identifier: MIT
// More memory of a node than it has for jobs.
#include <algorithm>

#include "check/site_rule.hpp"
#include "model/mem_size.hpp"

namespace hpcml::check {
namespace site_memory {

std::uint64_t of(const slurm::Request& request, std::string_view option) {
  const auto found = request.memory_mb.find(option);
  return found == request.memory_mb.end() ? 0 : found->second;
}

/// What one node must offer, in MiB.
std::uint64_t asked_of_node(const SitePart& part) {
  const auto cpus = static_cast<std::uint64_t>(std::max(1L, part.size.cpus_per_node));
  return std::max({of(part.request, "mem"), of(part.request, "mem-per-cpu") * cpus,
                   of(part.request, "mem-per-gpu") * part.demand.gpus_per_node});
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const model::NodeType* most = nullptr;
    bool all_known = !part.fit.nodes.empty();
    for (const auto* node : part.fit.nodes) {
      all_known = all_known && node->memory;
      if (node->memory && (!most || node->memory->value > most->memory->value)) most = node;
    }
    const auto asked = asked_of_node(part);
    if (!all_known || !most || asked <= most->memory->value.mib() || !part.flag("mem").takes()) continue;
    // What a profile says of memory is often rounded, and there may be CPU nodes with more: near it the site
    // may still take the job.
    const bool far = most->gpu && asked * 4 > most->memory->value.mib() * 5;
    hits.push_back({part.place({"mem", "mem-per-cpu", "mem-per-gpu"}),
                    model::MemSize::of_mib(asked).to_slurm() +
                        " of memory on one node: the nodes here have " + most->memory->value.to_slurm() +
                        " for jobs",
                    with_source("at most --mem=" + most->memory->value.to_slurm(), most->memory->origin),
                    {},
                    far ? part.severity() : diag::Severity::warning});
  }
  return hits;
}

} // namespace site_memory

Rule rule_site_memory() {
  using namespace site_memory;
  return {"site/memory",
          diag::Severity::error,
          "More memory than a node has for jobs",
          "No node can hold the job: memory specification can not be satisfied. What the system needs of a "
          "node is not for jobs.",
          "https://slurm.schedmd.com/sbatch.html#OPT_mem",
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH --gpus-per-node=8\n#SBATCH --mem=1000G\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH --gpus-per-node=8\n#SBATCH --mem=500G\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=4\n#SBATCH "
            "--mem-per-gpu=300G\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -p rome\n#SBATCH -t 10\n#SBATCH -n1\n#SBATCH --cpus-per-task=128\n#SBATCH "
            "--mem-per-cpu=8G\nsrun true\n",
            "snellius"}},
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH --gpus-per-node=8\n#SBATCH --mem=480G\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH --gpus-per-node=8\n#SBATCH --mem=0\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=4\n#SBATCH "
            "--mem-per-gpu=180G\nsrun true\n",
            "snellius"}},
          find};
}

} // namespace hpcml::check
