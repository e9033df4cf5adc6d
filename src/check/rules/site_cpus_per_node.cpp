// SPDX-License-Identifier: MIT
// More CPUs of a node than it has, or than jobs can have.
#include <algorithm>

#include "check/site_rule.hpp"
#include "site/limits.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_cpus_per_node {

/// What a node offers: CPUs at the very most, and those that it surely has for jobs.
struct Room {
  long most = 0;   ///< more is on no such node
  long known = 0;  ///< as far as the profile tells: hardware threads may be more
  long cores = 0;  ///< physical ones
  long usable = 0; ///< physical ones for jobs
  const model::NodeType* node = nullptr;
};

/// Of the largest of the nodes; nothing where one is not known.
std::optional<Room> largest(const SitePart& part) {
  Room room;
  const bool one_thread = part.size.threads_per_core == 1;
  for (const auto* node : part.fit.nodes) {
    const long cores = node->cpu.cores;
    if (cores == 0) return std::nullopt;
    const long threads = one_thread ? 1 : node->cpu.threads_per_core;
    // A profile that tells of one thread per core may only not know of the others.
    const long possible = node->cpu.threads_per_core > 1 || one_thread ? threads
                          : node->cpu_arch == model::CpuArch::ppc64le  ? 4
                                                                       : 2;
    if (cores * possible > room.most)
      room = {cores * possible, cores * threads, cores, static_cast<long>(site::usable_cores(*node)), node};
  }
  return room.node ? std::optional(room) : std::nullopt;
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const auto room = largest(part);
    const long asked = part.size.cpus_per_node;
    if (!room || part.request.overcommit) continue;
    const auto place = part.place({"cpus-per-task", "ntasks-per-node", "mincpus", "cpus-per-gpu"});
    const auto hint = with_source("the nodes here have " + std::to_string(room->usable) + " cores for jobs",
                                  room->node->origin);
    const auto what =
        count_text(static_cast<unsigned long long>(std::max(0L, asked)), "CPU") + " of one node: ";
    if (asked > room->most)
      hits.push_back({place, what + "no node here has as many", hint, {}, part.severity()});
    else if (asked > room->known)
      hits.push_back({place,
                      what + "the profile knows of " + std::to_string(room->known),
                      hint,
                      {},
                      diag::Severity::warning});
    else if (room->usable < room->cores && asked > room->usable &&
             (asked <= room->cores || asked > room->usable * (room->known / room->cores)))
      // Up to the number of cores the job most likely counts cores.
      hits.push_back({place,
                      what + std::to_string(room->cores - room->usable) + " of the " +
                          std::to_string(room->cores) + " cores are the system's",
                      hint,
                      {},
                      diag::Severity::warning});
  }
  return hits;
}

} // namespace site_cpus_per_node

Rule rule_site_cpus_per_node() {
  using namespace site_cpus_per_node;
  return {
      "site/cpus-per-node",
      diag::Severity::error,
      "More CPUs than a node has for jobs",
      "No node can hold the job: requested node configuration is not available. Cores that the site keeps "
      "for the system are not for jobs.",
      "https://slurm.schedmd.com/sbatch.html#OPT_cpus-per-task",
      {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p standard-g\n#SBATCH "
        "--gpus-per-node=8\n#SBATCH --ntasks-per-node=8\n#SBATCH --cpus-per-task=8\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=4\n#SBATCH "
        "--ntasks-per-node=4\n#SBATCH --cpus-per-task=64\nsrun true\n",
        "snellius"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p standard-g\n#SBATCH "
        "--gpus-per-node=8\n#SBATCH --ntasks-per-node=8\n#SBATCH --cpus-per-task=20\nsrun true\n",
        "lumi"}},
      {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p standard-g\n#SBATCH "
        "--gpus-per-node=8\n#SBATCH --ntasks-per-node=8\n#SBATCH --cpus-per-task=7\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=4\n#SBATCH "
        "--ntasks-per-node=4\n#SBATCH --cpus-per-task=16\nsrun true\n",
        "snellius"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p standard-g\n#SBATCH "
        "--gpus-per-node=8\n#SBATCH --ntasks-per-node=8\n#SBATCH --cpus-per-task=14\nsrun true\n",
        "lumi"}},
      find};
}

} // namespace hpcml::check
