// SPDX-License-Identifier: MIT
#include "gpu_fit.hpp"

#include <algorithm>

#include "gpu_node.hpp"

namespace hpcml::slurm {
namespace {

class Fit {
public:
  Fit(const GpuJob& job, const ClusterFacts& cluster, long nodes, Version version)
      : j(job), x_nodes(nodes), x_version(version), x_node(job, cluster, version) {}

  bool run() {
    NodeOffer node;
    if (!x_node.offer(node)) return false;
    long least_nodes = j.min_nodes;
    if (x_nodes < least_nodes) return false;
    if (j.max_nodes == 1 && from(Version::v26_05)) return fits_one_of(node, true) || fits_one_of(node, false);
    if (j.tasks_per_node > 0 && j.tasks > 0)
      least_nodes = std::max(least_nodes, ceiling(j.tasks, j.tasks_per_node));
    if (x_nodes < least_nodes) return false;
    long most = j.max_nodes;
    const bool counts = from(Version::v23_02)   ? j.tasks > 0 && j.tasks_per_node == 0
                        : from(Version::v22_05) ? j.tasks > 0
                                                : j.tasks > 1;
    if (counts && most > j.tasks) most = std::max(j.tasks, least_nodes);
    return fits(node, least_nodes, most, true) ||
           fits(node, least_nodes, from(Version::v24_05) ? j.max_nodes : most, false);
  }

private:
  bool from(Version version) const { return x_version >= version; }

  long least_gpu_cpus() const {
    const long gpus = j.gpus_per_node > 0     ? j.gpus_per_node
                      : j.gpus_per_socket > 0 ? j.gpus_per_socket
                      : j.gpus_per_task > 0   ? j.gpus_per_task * j.tasks_per_node
                                              : 1;
    return j.cpus_per_gpu * gpus;
  }

  long job_gpu_cpus() const {
    const long gpus = gpus_of(j) > 0        ? gpus_of(j)
                      : j.gpus_per_node > 0 ? j.gpus_per_node * j.min_nodes
                                            : j.gpus_per_socket * j.min_nodes;
    return j.cpus_per_gpu * gpus;
  }

  /// What is still to be found while nodes are added.
  struct Rest {
    long cpus = 0;
    long nodes = 0;
    long least_nodes = 0;
    long most_nodes = 0;
    long most_cpus = 0;
    long most_tasks = 0;
    long gpus = 0; ///< found
  };

  Rest start(long least_nodes, long most_nodes) const {
    Rest rest;
    rest.cpus = j.cpus;
    rest.nodes =
        gpus_of(j) > 0 ? std::min(least_nodes, j.wanted_nodes) : std::max(least_nodes, j.wanted_nodes);
    rest.least_nodes = least_nodes;
    rest.most_nodes = most_nodes;
    rest.most_cpus = from(Version::v21_08) ? std::max({j.cpus, least_gpu_cpus() * rest.nodes, job_gpu_cpus()})
                                           : std::numeric_limits<long>::max() / 2;
    rest.most_tasks = rest.most_cpus;
    if (!j.overcommit && j.cpus_per_task > 1)
      rest.most_tasks =
          j.tasks_per_node == 0 ? rest.most_cpus / j.cpus_per_task : j.tasks_per_node * most_nodes;
    return rest;
  }

  bool has_gpus(const Rest& rest) const { return gpus_of(j) <= rest.gpus; }

  /// Adds a node; false where it is of no use.
  bool add(NodeOffer node, Rest& rest) const {
    if (!j.whole_nodes) {
      const long most = rest.most_cpus - std::max(rest.least_nodes - 1, 0L) * x_node.threads();
      if (node.cpus > most) {
        node.cpus = std::max(most, j.cpus_per_node);
        node.cpus = std::max(node.cpus, node.least_cpus > 0 ? node.least_cpus : least_gpu_cpus());
      }
    }
    if (gpus_of(j) > 0 && node.cpus > 0) {
      if (!from(Version::v24_05))
        add_gpus(node, rest);
      else if (!add_tasks(node, rest))
        return false;
    }
    rest.cpus -= node.cpus;
    rest.most_cpus -= node.cpus;
    --rest.nodes;
    --rest.least_nodes;
    --rest.most_nodes;
    return true;
  }

  void add_gpus(NodeOffer& node, Rest& rest) const {
    long gpus = node.gpus;
    if (j.cpus_per_gpu > 0) {
      gpus = std::min(node.cpus / j.cpus_per_gpu, gpus);
      if (from(Version::v22_05) && gpus > 0) node.cpus = gpus * j.cpus_per_gpu;
    }
    rest.gpus += gpus;
  }

  /// From 24.05 the node's tasks are counted, too.
  bool add_tasks(NodeOffer& node, Rest& rest) const {
    long saved = std::max(rest.least_nodes - 1, 0L);
    rest.most_tasks -= saved;
    if (!j.overcommit) {
      const long used = std::min(rest.most_tasks, node.cpus / j.cpus_per_task);
      if (used < rest.most_tasks) {
        saved += rest.most_tasks - used;
        rest.most_tasks = used;
      }
    }
    rest.most_tasks = std::max(rest.most_tasks, 1L);
    long used = rest.most_tasks;
    const bool one_on_node = j.overcommit && j.gpus_per_task == 0;
    if (j.plane_size > 0 && !one_on_node) used = std::min(used, j.plane_size);
    if (used < node.most_tasks) {
      if (j.gpus_per_node == 0 && (j.gpus_per_task > 0 || j.tasks_per_gpu > 0)) {
        const long gpus = j.gpus_per_task > 0 ? used * j.gpus_per_task : used / j.tasks_per_gpu;
        if (j.gpus_per_task == 0) used = gpus * j.tasks_per_gpu;
        node.gpus = std::min(node.gpus, gpus);
      }
      node.most_tasks = used;
    }
    used = std::min(used, node.most_tasks);
    long least = j.overcommit ? j.cpus_per_task : j.cpus_per_task * used;
    if (from(Version::v24_11)) least = std::max(least, j.cpus_per_node);
    const bool good = used > 0 && node.cpus >= least;
    if (good) {
      long gpus = node.gpus, gpu_cpus = 0;
      if (j.cpus_per_gpu > 0) {
        gpus = std::min(node.cpus / j.cpus_per_gpu, gpus);
        gpu_cpus = gpus * j.cpus_per_gpu;
      }
      const long at_least = j.gpus_per_task > 0 || j.tasks_per_gpu > 0 ? gpus : std::max(j.gpus_per_node, 1L);
      if (gpus_of(j) > rest.gpus) gpus = std::min(gpus_of(j) - rest.gpus, gpus);
      rest.gpus += std::max(gpus, at_least);
      if (gpu_cpus > 0 && gpu_cpus < node.cpus && (gpu_cpus > least || !from(Version::v24_11)))
        node.cpus = gpu_cpus;
      rest.most_tasks -= used;
    }
    rest.most_tasks += saved;
    return good;
  }

  /// 26.05 tries one node after another, and counts the GPUs of those that did not do with the next one's.
  bool fits_one_of(const NodeOffer& plain, bool first) const {
    long found = 0;
    for (long i = 0; i < x_nodes; ++i) {
      NodeOffer node = plain;
      Rest rest = start(1, 1);
      rest.gpus = found;
      x_node.lay_by_gpus(node, 1, first, found);
      if (node.cpus > 0 && add(node, rest) && rest.cpus <= 0 && has_gpus(rest)) return true;
      found = rest.gpus;
    }
    return false;
  }

  bool fits(const NodeOffer& plain, long least_nodes, long most_nodes, bool first) const {
    NodeOffer node = plain;
    x_node.lay_by_gpus(node, least_nodes, first, 0);
    if (node.cpus == 0) return false;
    Rest rest = start(least_nodes, most_nodes);
    // One node that has all is taken alone.
    const bool alone =
        rest.nodes <= 1 && node.cpus >= rest.cpus && (gpus_of(j) == 0 || node.gpus >= gpus_of(j));
    const auto done = [&] { return rest.nodes <= 0 && rest.cpus <= 0 && has_gpus(rest); };
    for (long i = 0; i < (alone ? 1 : x_nodes) && rest.most_nodes > 0 && !done(); ++i) {
      if (rest.most_nodes == 1 && node.cpus < rest.cpus) continue;
      (void)add(node, rest);
    }
    const long missing =
        j.wanted_nodes > least_nodes ? rest.nodes + least_nodes - j.wanted_nodes : rest.nodes;
    return rest.cpus <= 0 && has_gpus(rest) && missing <= 0;
  }

  const GpuJob& j;
  long x_nodes;
  Version x_version;
  GpuNode x_node;
};

} // namespace

bool gpus_fit(const GpuJob& job, const ClusterFacts& cluster, long nodes, Version version) {
  return Fit(job, cluster, nodes, version).run();
}

} // namespace hpcml::slurm
