// SPDX-License-Identifier: MIT
#include "gpu_node.hpp"

#include <algorithm>

namespace hpcml::slurm {
namespace {

constexpr long k_any = std::numeric_limits<long>::max();

} // namespace

/// CPUs of a core that the job uses.
long GpuNode::threads_in_use() const {
  long threads = c.threads_per_core;
  if (j.tasks_per_core > 0) threads = std::min(threads, j.tasks_per_core * j.cpus_per_task);
  if (j.threads_per_core > 0) threads = std::min(threads, j.threads_per_core);
  return threads;
}

/// Cores and CPUs of the node that the tasks may have.
bool GpuNode::offer_cores(NodeOffer& node) const {
  const long available = cores_there();
  long cpus = available * x_threads;
  if (j.tasks_per_socket > available * c.threads_per_core || cpus < j.cpus_per_node) return false;
  long tasks = j.tasks_per_socket > 0 ? std::min(cpus, j.tasks_per_socket) : cpus;
  if (!from(Version::v23_02)) {
    if (j.cpus_per_task < 2)
      cpus = tasks;
    else if (j.tasks_per_core == 1 && j.cpus_per_task > x_threads) {
      const long whole = ceiling(j.cpus_per_task, x_threads) * x_threads;
      cpus = cpus / whole * j.cpus_per_task;
    } else {
      tasks = std::min(tasks, cpus / j.cpus_per_task);
      cpus = tasks * j.cpus_per_task;
    }
  }
  if ((j.tasks_per_node > 0 && tasks < j.tasks_per_node && !j.overcommit) || cpus < j.cpus_per_node ||
      tasks == 0)
    return false;
  take_cores(cpus, node);
  long at_once = 1;
  if (j.tasks_per_node > 0)
    at_once = j.tasks_per_node;
  else if (!j.overcommit && j.max_nodes == 1 && j.exact_nodes && j.tasks > 0)
    at_once = j.tasks;
  return node.cpus > 0 &&
         (node.cpus >= static_cast<std::uint16_t>(at_once * j.cpus_per_task) || !from(Version::v21_08));
}

/// One core after another, until the tasks of the socket or the CPUs are reached.
void GpuNode::take_cores(long cpus, NodeOffer& node) const {
  const long limit =
      j.tasks_per_socket > 0 ? j.tasks_per_socket * j.cpus_per_task : cores_there() * x_threads;
  long rest = j.cpus_per_task;
  for (long counted = 0; node.cores < cores_there() && cpus > 0; ++node.cores) {
    if (counted > 0 && counted >= limit) break;
    counted += x_threads;
    long used = x_threads;
    if (j.tasks_per_core == 1 && j.cpus_per_task > x_threads) used = std::min(rest, x_threads);
    used = std::min(used, cpus);
    cpus -= used;
    node.cpus += used;
    rest = rest <= used ? j.cpus_per_task : rest - used;
  }
}

long GpuNode::requested_cpus_per_gpu() const {
  if (j.cpus_per_gpu > 0) return j.cpus_per_gpu;
  return j.tasks_per_gpu * j.cpus_per_task;
}

bool GpuNode::offer_gpus(NodeOffer& node) const {
  node.gpus = c.gpus ? c.gpus->count : 0;
  long least = 1;
  if (j.whole_nodes)
    least = node.gpus;
  else if (j.gpus_per_node > 0)
    least = j.gpus_per_node;
  least = std::max({least, j.gpus_per_socket, j.gpus_per_task * std::max(j.tasks_per_node, 0L)});
  const long cpus = requested_cpus_per_gpu();
  // Measured in 21.08: a GPU's whole cores have to do for its tasks.
  if (x_version == Version::v21_08 && j.cpus_per_gpu > 0 &&
      ceiling(j.cpus_per_gpu, c.threads_per_core) * c.threads_per_core < j.tasks_per_gpu)
    return false;
  if (cpus > 0) {
    const long most = node.cpus / cpus;
    if (most == 0 || j.gpus_per_node > most || j.gpus_per_task > most || j.gpus_per_socket > most)
      return false;
  }
  const auto narrow = [&](long most) {
    if (most > 0 && (node.most_gpus == 0 || node.most_gpus > most)) node.most_gpus = most;
  };
  if (j.memory_per_gpu > 0) {
    if (j.memory_per_gpu > c.memory_mb) return false;
    narrow(static_cast<long>(c.memory_mb / j.memory_per_gpu));
  }
  if (!j.whole_nodes) narrow(j.gpus_per_node > 0 ? j.gpus_per_node : gpus_of(j));
  if (cpus > 0 && !(j.whole_nodes && j.tasks_per_gpu > 0)) {
    const long most = node.cores * c.threads_per_core / cpus;
    if (most == 0) return false;
    narrow(most);
  }
  if (j.memory_per_gpu > 0)
    node.gpus = std::min(node.gpus, static_cast<long>(c.memory_mb / j.memory_per_gpu));
  return node.gpus >= least && (node.most_gpus == 0 || node.most_gpus >= least);
}

/// CPUs by their memory; with it whole tasks only.
bool GpuNode::offer_memory(NodeOffer& node) const {
  if (j.memory_per_cpu == 0) return true;
  while (node.cpus > 0 && static_cast<std::uint64_t>(node.cpus) * j.memory_per_cpu > c.memory_mb)
    node.cpus = j.whole_nodes ? 0 : std::max(0L, node.cpus - 1);
  if (j.cpus_per_task > 1) node.cpus -= node.cpus % j.cpus_per_task;
  return node.cpus > 0 && node.cpus >= j.tasks_per_node;
}

/// How many tasks the node has to hold and may hold, as the first of these options says.
GpuNode::Range GpuNode::tasks_of_node(const NodeOffer& node) const {
  Range tasks;
  if (j.tasks_per_node > 0)
    tasks = {j.tasks_per_node, j.tasks_per_node};
  else if (j.tasks_per_socket > 0)
    tasks = {j.tasks_per_socket, j.tasks_per_socket * c.sockets};
  else if (j.tasks_per_core > 0)
    tasks = {j.tasks_per_core, j.tasks_per_core * cores_there()};
  else if (j.tasks_per_gpu > 0)
    tasks = tasks_by_gpus();
  else if (j.max_nodes == 1 && j.exact_nodes)
    tasks = j.tasks > 0 ? Range{j.tasks, j.tasks} : Range{};
  else if (j.tasks == 1 || (j.tasks > 0 && j.exact_nodes && j.tasks == j.min_nodes))
    tasks = {1, 1};
  if (!j.overcommit) {
    const long room = node.cpus / j.cpus_per_task;
    if (room < tasks.least)
      tasks.most = 0;
    else if (room < tasks.most || !from(Version::v22_05))
      tasks.most = room;
  }
  if (from(Version::v25_11) && j.tasks > 0) tasks.most = std::min(tasks.most, j.tasks);
  return tasks;
}

GpuNode::Range GpuNode::tasks_by_gpus() const {
  if (!from(Version::v23_02)) {
    const long share = j.tasks / std::max(1L, j.min_nodes);
    return j.min_nodes > 0 ? Range{share, share} : Range{};
  }
  if (j.min_nodes > 0 && j.exact_nodes) return {j.tasks / j.min_nodes, j.tasks / j.min_nodes};
  return {j.tasks_per_gpu, j.tasks};
}

/// CPUs that go with a GPU.
long GpuNode::cpus_of_gpu(bool first) const {
  if (const long requested = requested_cpus_per_gpu(); requested > 0) return requested;
  const long gpus = gpus_of(j);
  if (!first || j.tasks == 0 || gpus == 0 || !from(Version::v23_02)) return 0;
  if (!from(Version::v23_11)) return ceiling(j.tasks, gpus) * j.cpus_per_task;
  if (j.tasks >= gpus && j.tasks % gpus == 0) return j.tasks / gpus * j.cpus_per_task;
  if (gpus % j.tasks == 0 && j.cpus_per_task % (gpus / j.tasks) == 0)
    return j.cpus_per_task / (gpus / j.tasks);
  return 0;
}

/// The most GPUs that the node is to give; -1 where it cannot hold its tasks.
long GpuNode::most_gpus(const NodeOffer& node, long rem_nodes, const Range& tasks, long found) const {
  long rest = 0;
  if (const long gpus = gpus_of(j); gpus > found)
    rest = from(Version::v24_05) ? gpus - found - (rem_nodes - 1) : gpus - found;
  else if (gpus > 0 && from(Version::v24_05))
    rest = j.gpus_per_node > 0 ? j.gpus_per_node : std::max({1L, j.gpus_per_task, j.gpus_per_socket});
  if (from(Version::v25_11) && j.gpus_per_task > 0 && tasks.most != k_any) {
    if (j.gpus_per_task * tasks.least > rest) return -1;
    rest = std::min(rest, j.gpus_per_task * tasks.most);
  }
  if (node.most_gpus == 0) return 0;
  return rest > 0 ? std::min(rest, node.most_gpus) : node.most_gpus;
}

/// GPUs that the node gives, and what they leave of its tasks; false where it gives too few.
bool GpuNode::count_gpus(const NodeOffer& node, long most, Lay& lay) const {
  auto& [tasks, gpus, cpus_per_gpu] = lay;
  gpus = c.gpus ? c.gpus->count : 0;
  if (j.gpus_per_node > 0 && j.gpus_per_task > 0) {
    const long held = j.gpus_per_node / j.gpus_per_task;
    if (held == 0 || held > tasks.most || held < tasks.least) return false;
    if (tasks.most > held) tasks.most = most;
  }
  if (cpus_per_gpu > 0) {
    const long by_cpus = node.cpus / cpus_per_gpu;
    most = most > 0 && from(Version::v22_05) ? std::min(by_cpus, most) : by_cpus;
    gpus = std::min(gpus, most);
  }
  if (from(Version::v24_05)) {
    if (most > 0) gpus = std::min(gpus, most);
    if (j.gpus_per_node > 0) gpus = std::min(gpus, j.gpus_per_node);
  }
  if (gpus == 0 || j.gpus_per_node > gpus || j.gpus_per_task > gpus) tasks.most = 0;
  const long step = tasks.least;
  if (from(Version::v24_05)) limit_by_cpus(lay);
  limit_by_tasks(lay);
  if (from(Version::v23_11) && !from(Version::v24_05)) limit_by_cpus(lay);
  if (step > 0 && tasks.most != k_any) tasks.most = tasks.most / step * step;
  return tasks.most > 0;
}

/// The CPUs of the GPUs have to do for the tasks.
void GpuNode::limit_by_cpus(Lay& lay) const {
  if (lay.cpus_per_gpu == 0 || lay.gpus == 0) return;
  const long cpus = lay.cpus_per_gpu * lay.gpus;
  if (cpus < lay.tasks.least * j.cpus_per_task || (from(Version::v24_11) && cpus < j.cpus_per_node))
    lay.tasks.most = lay.tasks.least;
  else
    lay.tasks.most = std::min(lay.tasks.most, cpus / j.cpus_per_task);
}

/// No more tasks than GPUs for them, and from 24.05 no more GPUs than tasks for them.
void GpuNode::limit_by_tasks(Lay& lay) const {
  auto& most = lay.tasks.most;
  const bool narrows = from(Version::v24_05) && j.gpus_per_node == 0;
  if (j.gpus_per_task > 0) {
    most = std::min(most, lay.gpus / j.gpus_per_task);
    if (narrows) lay.gpus = std::min(lay.gpus, most * j.gpus_per_task);
  }
  if (j.tasks_per_gpu == 0 || !from(Version::v23_02)) return;
  long held = lay.gpus * j.tasks_per_gpu;
  while (from(Version::v24_05) && held > most) {
    held -= j.tasks_per_gpu;
    if (narrows) --lay.gpus;
  }
  most = std::min(most, held);
}

/// Cores for as many of the tasks as the node holds.
long GpuNode::count_cores(const NodeOffer& node, Lay& lay) const {
  auto& [tasks, gpus, cpus_per_gpu] = lay;
  const long threads = j.threads_per_core > 0 ? std::min<long>(c.threads_per_core, j.threads_per_core)
                                              : static_cast<long>(c.threads_per_core);
  long cpus = j.cpus_per_task;
  if (j.tasks_per_core == 1 && cpus % threads != 0) cpus = ceiling(cpus, threads) * threads;
  long cores = tasks.most * cpus;
  while (tasks.most >= tasks.least) {
    cores = ceiling(cores, threads);
    if (cores <= node.cores) break;
    cores = --tasks.most * cpus;
    if (from(Version::v24_05) && j.gpus_per_node == 0 && (j.gpus_per_task > 0 || j.tasks_per_gpu > 0))
      gpus =
          std::min(gpus, j.gpus_per_task > 0 ? tasks.most * j.gpus_per_task : tasks.most / j.tasks_per_gpu);
  }
  if (cpus_per_gpu > 0) {
    long needed = j.gpus_per_node > 0     ? j.gpus_per_node
                  : j.gpus_per_socket > 0 ? j.gpus_per_socket
                  : j.gpus_per_task > 0   ? j.gpus_per_task * tasks.most
                                          : std::max(gpus, 1L);
    needed *= cpus_per_gpu;
    if (from(Version::v23_11)) tasks.most = std::min(needed, tasks.most);
    cores = std::max(cores, ceiling(needed, from(Version::v24_05) ? threads : c.threads_per_core));
  }
  if (!j.binds || !from(Version::v22_05)) return cores;
  cores = std::max(cores, 1L);
  return cores * threads > node.cpus ? node.cores + 1 : cores; // bound GPUs have to have all their cores
}

/// Up to 22.05 each core that the node takes back takes all its CPUs along, also where the job had one of
/// them.
void GpuNode::drop_cores(NodeOffer& node, long kept, long per_core) const {
  if (from(Version::v23_02))
    node.cpus = std::min(node.cpus, kept * per_core);
  else
    for (long left = node.cores - 1; left >= kept; --left)
      if (left * per_core < node.cpus) node.cpus -= per_core;
  node.cores = std::min(node.cores, kept);
}

/// Leaves the cores that are needed; false where they do not do for the GPUs.
bool GpuNode::keep_cores(NodeOffer& node, long cores, const Lay& lay) const {
  const long per_core = from(Version::v24_05) && j.threads_per_core > 0
                            ? std::min<long>(c.threads_per_core, j.threads_per_core)
                            : static_cast<long>(c.threads_per_core);
  drop_cores(node, std::clamp(cores, 0L, node.cores), per_core);
  if (lay.cpus_per_gpu > 0) {
    node.gpus = std::min(node.gpus, node.cpus / lay.cpus_per_gpu);
    if (j.gpus_per_node > node.gpus || j.gpus_per_task > node.gpus) return false;
  }
  if (from(Version::v24_05)) node.gpus = std::min(lay.gpus, node.gpus);
  const bool own_cpus = j.cpus_per_gpu > 0;
  const bool least_counts = (j.binds && from(Version::v22_05)) || (own_cpus && from(Version::v23_11));
  const long least_cores = least_counts ? cores : 0;
  if (!(own_cpus && from(Version::v22_05)))
    node.cpus = std::min(node.cpus, std::max(lay.tasks.most * j.cpus_per_task,
                                             from(Version::v24_11) ? least_cores * per_core : 0));
  node.least_cpus = from(Version::v23_02) ? x_threads * least_cores : 0;
  node.most_tasks = lay.tasks.most;
  return true;
}

void GpuNode::lay_by_gpus(NodeOffer& node, long rem_nodes, bool first, long found) const {
  const auto refuse = [&] { node.cpus = node.most_tasks = 0; };
  Lay lay{tasks_of_node(node), 0, cpus_of_gpu(first)};
  if (lay.tasks.most == 0) return refuse();
  const long most = most_gpus(node, rem_nodes, lay.tasks, found);
  if (most < 0 || (most > 0 && (j.gpus_per_node > most || j.gpus_per_socket > most))) return refuse();
  if (!count_gpus(node, most, lay)) return refuse();
  if (lay.tasks.most == k_any) {
    if (lay.cpus_per_gpu > 0) node.gpus = std::min(node.gpus, node.cpus / lay.cpus_per_gpu);
    node.most_tasks = k_any;
    return;
  }
  const long cores = count_cores(node, lay);
  if (cores > node.cores || !keep_cores(node, cores, lay)) refuse();
}

} // namespace hpcml::slurm
