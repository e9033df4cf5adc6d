// SPDX-License-Identifier: MIT
// More memory of a node than it has for jobs.

#include "check/site_rule.hpp"
#include "model/mem_size.hpp"

namespace hpcml::check {
namespace site_memory {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/memory")) {
      const auto limit = model::MemSize::of_mib(verdict.limit).to_slurm();
      hits.push_back({part.place({"mem", "mem-per-cpu", "mem-per-gpu"}),
                      model::MemSize::of_mib(verdict.have).to_slurm() +
                          " of memory on one node: the nodes here have " + limit + " for jobs",
                      with_source("at most --mem=" + limit, verdict.origin),
                      {},
                      severity_of(verdict)});
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
