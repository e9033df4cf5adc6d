// SPDX-License-Identifier: MIT
// CPUs and memory that do not go with the number of GPUs.
#include <algorithm>

#include "check/site_rule.hpp"
#include "model/mem_size.hpp"
#include "site/gpu_names.hpp"
#include "site/limits.hpp"

namespace hpcml::check {
namespace site_gpu_share {

/// CPUs of each node, also where only the numbers of all tasks and nodes are given.
unsigned cpus_on_node(const SitePart& part) {
  const auto& size = part.size;
  auto cpus = size.cpus_per_node;
  if (part.request.has("ntasks") && size.nodes_given && size.min_nodes > 0)
    cpus = std::max(cpus, (size.tasks + size.min_nodes - 1) / size.min_nodes * size.cpus_per_task);
  return static_cast<unsigned>(cpus);
}

void find_cpus(const SitePart& part, const model::NodeType& node, Hits& hits) {
  if (!node.cpus_per_gpu || part.size.cpus_per_node == 0) return;
  const unsigned gpus = part.demand.gpus_per_node;
  const unsigned share = *node.cpus_per_gpu * gpus;
  const auto asked = cpus_on_node(part);
  const bool threads = node.cpu.threads_per_core > 1 && part.size.threads_per_core != 1;
  const auto what = count_text(asked, "CPU") + " for " + count_text(gpus, "GPU") +
                    ": a GPU here has a share of " + count_text(*node.cpus_per_gpu, "core");
  const auto hint = with_source(count_text(share, "core") + " go with them", node.origin);
  const auto place = part.place({"cpus-per-task", "cpus-per-gpu", "ntasks-per-node", "ntasks"});
  const auto most = threads ? share * node.cpu.threads_per_core : share;
  // How many threads a CPU of Slurm is decides the site: what may be right is not called wrong.
  if (asked > most && site::breaks_share(node, asked, share))
    hits.push_back({place, what, hint, {}, diag::Severity::warning});
  else if (asked > most && !part.fit.owns_nodes() && gpus < node.gpu->per_node)
    hits.push_back(
        {place, what + "; more may wait longer or block GPUs for others", hint, {}, diag::Severity::note});
  else if (asked * (part.fit.owns_nodes() ? 4 : 2) <= share && part.request.has("cpus-per-task"))
    hits.push_back({place,
                    what + "; with so few the loaders of data may keep the GPUs waiting",
                    hint,
                    {},
                    diag::Severity::note});
}

void find_memory(const SitePart& part, const model::NodeType& node, Hits& hits) {
  const auto found = part.request.memory_mb.find("mem");
  if (!node.mem_per_gpu || found == part.request.memory_mb.end() || found->second == 0 ||
      part.fit.owns_nodes())
    return;
  const unsigned gpus = part.demand.gpus_per_node;
  const auto share = model::MemSize::of_mib(node.mem_per_gpu->mib() * gpus);
  const auto asked = model::MemSize::of_mib(found->second);
  const bool over = asked.mib() * 100 > share.mib() * 105; // shares are told in round numbers
  const bool wrong = site::breaks_share(node, asked, share) && (over || asked < share);
  if (!wrong && (!over || gpus >= node.gpu->per_node)) return;
  hits.push_back({part.place({"mem"}),
                  asked.to_slurm() + " for " + count_text(gpus, "GPU") + ": a GPU here has a share of " +
                      node.mem_per_gpu->to_slurm() +
                      (wrong ? "" : "; more may wait longer or block GPUs for others"),
                  with_source("use --mem=" + share.to_slurm() + ", or leave it out", node.origin),
                  {},
                  wrong ? diag::Severity::warning : diag::Severity::note});
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    if (part.demand.gpus_per_node == 0 || part.fit.nodes.size() != 1 || !part.fit.nodes.front()->gpu)
      continue;
    const auto& node = *part.fit.nodes.front();
    if (site::find_slice(*node.gpu, part.demand.gpu_type) || part.demand.gpus_per_node > node.gpu->per_node)
      continue;
    find_cpus(part, node, hits);
    if (part.flag("mem").takes()) find_memory(part, node, hits);
  }
  return hits;
}

} // namespace site_gpu_share

Rule rule_site_gpu_share() {
  using namespace site_gpu_share;
  return {"site/gpu-share",
          diag::Severity::warning,
          "CPUs and memory out of proportion to the GPUs",
          "On shared nodes each GPU has its part of the cores and the memory: who takes more leaves GPUs "
          "that nobody can use, waits longer or is refused; who takes far less starves the GPUs.",
          "https://docs.alliancecan.ca/wiki/Allocations_and_compute_scheduling",
          {{"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=1\n#SBATCH "
            "--cpus-per-task=48\nsrun true\n",
            "trillium"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=1\n#SBATCH "
            "--cpus-per-task=64\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=1\n#SBATCH "
            "--mem=720G\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --ntasks=4 --nodes=2 "
            "--gpus-per-node=2\n#SBATCH --cpus-per-task=4\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=4\n#SBATCH "
            "--ntasks-per-node=4\n#SBATCH --cpus-per-task=2\nsrun true\n",
            "snellius"}},
          {{"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=1\n#SBATCH "
            "--cpus-per-task=24\nsrun true\n",
            "trillium"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --ntasks=16 --nodes=4 "
            "--gpus-per-node=4\n#SBATCH --cpus-per-task=16\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=1\n#SBATCH "
            "--cpus-per-task=16\n#SBATCH --mem=180G\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=1\n#SBATCH --cpus-per-task=7\n#SBATCH --mem=60G\nsrun true\n",
            "lumi"}},
          find};
}

} // namespace hpcml::check
