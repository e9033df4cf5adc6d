// SPDX-License-Identifier: MIT
#include "core/slurm/job_size.hpp"

#include <algorithm>
#include <set>

#include "core/model/hostlist.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

long sent_count(const JobOptions& r, std::string_view option) {
  const long number = static_cast<std::uint16_t>(r.count(option, 65534));
  return number == 65534 ? 0 : number;
}

JobSize geometry_of(const JobOptions& r) {
  JobSize size;
  const auto sent = [&](std::string_view option) -> long {
    const long number = sent_count(r, option);
    return number == 0 && r.count(option, 65534) % 65536 == 0 ? -1 : number;
  };
  size.threads_per_core = sent("threads-per-core");
  size.cores_per_socket = sent("cores-per-socket");
  size.sockets_per_node = sent("sockets-per-node");
  if (!r.has("hint")) return size;
  for (const auto& hint : util::split(util::to_lower(r.text("hint")), ',')) {
    if (hint == "compute_bound") size.cores_per_socket = 0;
    if (hint == "memory_bound") size.cores_per_socket = 1;
    if (hint == "multithread") size.threads_per_core = 0;
    if (hint == "compute_bound" || hint == "memory_bound" || hint == "nomultithread")
      size.threads_per_core = 1;
  }
  return size;
}

namespace {

void apply_nodes(const JobOptions& r, ComparisonTrackingVersion version, long listed_nodes, JobSize& size) {
  if (r.nodes) {
    size.min_nodes = r.nodes->min; // "0-1" and "0" may have none
    size.max_nodes = r.nodes->max;
    size.nodes_given = true;
  }
  if (listed_nodes > 0 && (!r.nodes || (listed_nodes >= size.min_nodes && version < Version::v23_02))) {
    size.min_nodes = listed_nodes;
    if (!r.nodes || r.nodes->max > 0) size.max_nodes = std::max(size.max_nodes, listed_nodes);
    size.nodes_given = true;
    if (r.nodes && !r.has("ntasks")) size.tasks_known = listed_nodes;
  }
  if (r.has("nodelist") && !r.nodes && hostlist_text(r.text("nodelist")).empty()) {
    size.min_nodes = 0;
    size.nodes_given = true;
  }
}

/// No more nodes than --ntasks.
void bound_nodes_by_tasks(const JobOptions& r, JobSize& size) {
  if (!r.has("ntasks") || !size.nodes_given) return;
  const long tasks = r.count("ntasks");
  if (tasks < size.min_nodes) size.min_nodes = tasks;
  if (size.max_nodes > tasks) size.max_nodes = std::max(size.min_nodes, tasks);
}

/// Nodes that follow from the GPUs of the job and of a node, which sbatch looks at last.
void apply_gpu_nodes(const JobOptions& r, JobSize& size) {
  const auto total = r.gpus("gpus");
  const auto per_node = r.gpus_per_node();
  if (total > 0 && per_node > 0 && total % per_node == 0)
    size.min_nodes = size.max_nodes = static_cast<long>(total / per_node);
  if (r.nodes && total > 0 && static_cast<long>(total) < size.max_nodes)
    size.max_nodes = std::max(size.min_nodes, static_cast<long>(total));
}

std::uint64_t per_task_gpus(const JobOptions& r) {
  return std::max(r.gpus("gpus-per-task"), r.tres_per_task ? gpu_count(r.tres_per_task->items) : 0);
}

/// CPUs are asked for per GPU of any type, which one of a named type is not.
bool has_typed_gpus_per_task(const JobOptions& r) {
  const auto typed = [](const std::vector<GresItem>& items) {
    return std::any_of(items.begin(), items.end(),
                       [](const GresItem& item) { return item.name == "gpu" && !item.type.empty(); });
  };
  const auto own = r.gres.find("gpus-per-task");
  return (own != r.gres.end() && typed(own->second)) || (r.tres_per_task && typed(r.tres_per_task->items));
}

bool requests_gres(const JobOptions& r) {
  const auto counts = [](const auto& items) {
    return std::any_of(items.begin(), items.end(),
                       [](const GresItem& item) { return item.count > 0 && item.name != "cpu"; });
  };
  return r.has("ntasks-per-gpu") || (r.tres_per_task && counts(r.tres_per_task->items)) ||
         std::any_of(r.gres.begin(), r.gres.end(), [&](const auto& entry) { return counts(entry.second); });
}

/// The most GPUs per node that one item of --gres or --gpus-per-node asks for.
std::uint64_t most_per_node(const JobOptions& r) {
  std::uint64_t most = 0;
  for (const std::string_view option : {"gres", "gpus-per-node"})
    if (const auto found = r.gres.find(option); found != r.gres.end())
      for (const auto& item : found->second)
        if (item.name == "gpu") most = std::max(most, item.count);
  return most;
}

/// Tasks that follow from GPUs where the job has `nodes` of them at least.
long tasks_by_gpus(const JobOptions& r, ComparisonTrackingVersion version, const JobSize& size, long nodes) {
  auto total = r.gpus("gpus");
  // The controller counts with the most that one of several items asks of a node.
  if (const auto most = most_per_node(r); total > 0 && most > r.gpus_per_node() && version >= Version::v21_08)
    total = std::max(total, most * static_cast<std::uint64_t>(nodes));
  const auto node_gpus = most_per_node(r) * static_cast<std::uint64_t>(nodes);
  if (const long per_gpu = sent_count(r, "ntasks-per-gpu"); per_gpu > 0) {
    if (total > 0) return per_gpu * static_cast<long>(total);
    if (node_gpus > 0) return per_gpu * static_cast<long>(node_gpus);
    const bool exact = r.nodes && size.min_nodes == size.max_nodes;
    const bool by_geometry = r.counts.count("sockets-per-node") + r.counts.count("cores-per-socket") +
                                 r.counts.count("threads-per-core") >
                             0;
    if (exact && !r.has("ntasks") && !by_geometry) return per_gpu * nodes; // a GPU per node
  }
  const auto per_task = per_task_gpus(r);
  if (per_task > 0 && total > 0 && total % per_task == 0) return static_cast<long>(total / per_task);
  return 0;
}

/// `sent_nodes`: the fewest nodes before GPUs add to them.
void apply_tasks(const JobOptions& r, ComparisonTrackingVersion version, long sent_nodes, JobSize& size) {
  // One task per socket, core or thread where those are asked for.
  const long product =
      r.count("sockets-per-node", 1) * r.count("cores-per-socket", 1) * r.count("threads-per-core", 1);
  const bool geometry = r.counts.count("sockets-per-node") + r.counts.count("cores-per-socket") +
                            r.counts.count("threads-per-core") >
                        0;
  const bool exact_nodes = r.nodes ? (r.nodes->min == r.nodes->max || r.nodes->max == 0) && !r.nodes->is_list
                                   : size.nodes_given && size.min_nodes == size.max_nodes;
  size.tasks_per_node = sent_count(r, "ntasks-per-node");
  // Up to 22.05 sbatch itself multiplies, with the number as it was written and without nodes by GPUs.
  const bool by_sbatch = (!size.nodes_given || exact_nodes) && version < Version::v23_02;
  const long per_node =
      by_sbatch && r.count("ntasks-per-node") > 65533 ? r.count("ntasks-per-node") : size.tasks_per_node;
  bool sent = true;
  if (r.has("ntasks"))
    size.tasks_known = r.count("ntasks");
  else if (per_node > 0 && (per_node > 1 || exact_nodes || geometry || by_sbatch))
    size.tasks_known = per_node * (by_sbatch ? sent_nodes : size.min_nodes);
  else if (exact_nodes ||
           (geometry && r.has("extra-node-info") && !size.nodes_given && size.tasks_per_node == 0)) {
    size.tasks_known = product * (size.nodes_given ? std::max(geometry ? 1L : 0L, sent_nodes) : 1);
    sent = geometry;
  }
  size.tasks_known = static_cast<std::uint32_t>(size.tasks_known);
  size.tasks = std::max({size.nodes_given ? 0L : 1L, size.tasks_known, size.min_nodes});
  if (sent && size.tasks_known > 0) size.tasks = size.tasks_known;
}

/// No more nodes than the GPUs that follow from --ntasks-per-gpu.
void bound_nodes_by_gpus(const JobOptions& r, JobSize& size) {
  const long per_gpu = sent_count(r, "ntasks-per-gpu");
  if (!r.nodes || !r.has("ntasks") || per_gpu == 0 || r.gpus("gpus") > 0 || r.gpus_per_node() > 0 ||
      r.gpus("gpus-per-socket") > 0)
    return;
  const long gpus = size.tasks_known / per_gpu;
  if (gpus > 0 && gpus < size.max_nodes) size.max_nodes = std::max(size.min_nodes, gpus);
}

/// What is known before GPUs state how many tasks there are and how many CPUs each has.
struct WithoutGpus {
  long known; ///< tasks
  long sent;  ///< tasks that the controller learns of, with those by GPUs
  long cpus_per_task;
  long nodes;         ///< the fewest
  bool by_controller; ///< it makes the number of tasks of a range of nodes, sbatch does not
};

/// The CPUs of the job and of a node, as sbatch sends them and the controller counts again.
void apply_cpus(const JobOptions& r, ComparisonTrackingVersion version, const WithoutGpus& by,
                JobSize& size) {
  // 20.11 learns of tasks by GPUs too late for the CPUs.
  const long counted = version == Version::v20_11 ? by.known : by.sent;
  // What sbatch sends; the controller counts again where it finds more tasks than that.
  const bool none = size.nodes_given && by.nodes == 0 && !r.has("cpus-per-task");
  size.cpus = none ? 0 : std::max(1L, by.by_controller ? 0 : by.known) * by.cpus_per_task;
  if (counted > size.cpus) size.cpus = counted * size.cpus_per_task;
  if (by.known != size.tasks_known && r.has("ntasks-per-gpu") && version >= Version::v25_05)
    size.cpus = std::max(size.cpus, size.tasks_known * size.cpus_per_task);
  // sbatch counts CPUs by the number as it was written.
  if (const long written = r.count("ntasks-per-node");
      written > 65533 && !r.has("ntasks") && !by.by_controller)
    size.cpus = std::max(size.cpus, written * std::max(1L, size.min_nodes) * by.cpus_per_task);
  if (r.overcommit) size.cpus = size.nodes_given ? std::max(1L, size.min_nodes) : 1;
  // With GPUs of any kind the CPUs of all tasks are counted where their number is given.
  const bool cpus_specified = r.has("cpus-per-task") || size.cpus_per_task != 1;
  if (cpus_specified && requests_gres(r) && size.tasks_known > 0 && version >= Version::v25_05)
    size.cpus = std::max(size.cpus, size.tasks_known * size.cpus_per_task);
  if (r.overcommit)
    size.cpus_per_node = size.cpus_per_task > 1 ? size.cpus_per_task : 0;
  else if (size.tasks_per_node > 0 || size.cpus_per_task > 1)
    // A job of one task does not fill its nodes.
    size.cpus_per_node = (r.count("ntasks") == 1 || (size.tasks_known == 1 && size.gpus_per_task > 0)
                              ? 1
                              : std::max(1L, size.tasks_per_node)) *
                         size.cpus_per_task;
  size.cpus_per_node = std::max(size.cpus_per_node, sent_count(r, "mincpus"));
}

} // namespace

std::string hostlist_text(std::string text) {
  std::replace(text.begin(), text.end(), ' ', ',');
  while (!text.empty() && text.back() == ',') text.pop_back();
  return text;
}

long listed_nodes(const JobOptions& request) {
  const std::string text = hostlist_text(request.text("nodelist"));
  if (text.empty()) return 0;
  const auto list = model::Hostlist::parse(text);
  if (!list) return 0;
  return static_cast<long>(std::set<std::string>(list->names().begin(), list->names().end()).size());
}

JobSize size_job(const JobOptions& r, ComparisonTrackingVersion version, long listed_nodes) {
  JobSize size = geometry_of(r);
  apply_nodes(r, version, listed_nodes, size);
  bound_nodes_by_tasks(r, size);
  const long sent_nodes = size.min_nodes;
  apply_gpu_nodes(r, size);
  apply_tasks(r, version, sent_nodes, size);
  size.cpus_per_task = r.count("cpus-per-task", 1);
  size.gpus_per_task = per_task_gpus(r);
  if (r.tres_per_task && r.tres_per_task->cpus_count && !r.has("cpus-per-task"))
    for (const auto& item : r.tres_per_task->items)
      if (item.name == "cpu") size.cpus_per_task = static_cast<long>(item.count);
  const long cpus_per_gpu = r.count("cpus-per-gpu");
  const long plain_cpus_per_task = size.cpus_per_task;
  if (cpus_per_gpu > 0 && size.gpus_per_task > 0 && !has_typed_gpus_per_task(r))
    size.cpus_per_task = cpus_per_gpu * static_cast<long>(size.gpus_per_task);
  // Of a range of nodes sbatch makes no number of tasks.
  const bool by_controller =
      !r.has("ntasks") && size.nodes_given && size.min_nodes != size.max_nodes && size.tasks_per_node > 1;
  const long known = size.tasks_known;
  long sent = known;
  // sbatch counts them with the nodes that it was given, and the controller again with those that follow.
  if (const long by_gpus = tasks_by_gpus(r, version, size, size.min_nodes);
      by_gpus > 0 && (!r.has("ntasks") || r.has("ntasks-per-gpu"))) {
    size.tasks = by_gpus;
    size.tasks_known = by_gpus;
    sent = tasks_by_gpus(r, version, size, sent_nodes);
  }
  bound_nodes_by_gpus(r, size);
  if (size.gpus_per_task > 0 && r.gpus_per_node() > 0 && size.tasks_per_node == 0)
    size.tasks_per_node = static_cast<long>(r.gpus_per_node() / size.gpus_per_task);

  apply_cpus(r, version, {known, sent, plain_cpus_per_task, sent_nodes, by_controller}, size);
  const auto nodes = static_cast<std::uint64_t>(size.min_nodes);
  size.gpus_per_node = std::max({r.gpus_per_node(), r.gpus("gpus-per-socket"), size.gpus_per_task});
  size.gpus = std::max({r.gpus("gpus"), r.gpus_per_node() * nodes, r.gpus("gpus-per-socket") * nodes,
                        size.gpus_per_task * static_cast<std::uint64_t>(size.tasks)});
  if (size.gpus == 0 && r.has("ntasks-per-gpu"))
    size.gpus = static_cast<std::uint64_t>(size.tasks / std::max(1L, sent_count(r, "ntasks-per-gpu")));
  if (cpus_per_gpu > 0 && version >= Version::v24_05)
    size.cpus =
        std::max(size.cpus, cpus_per_gpu * static_cast<long>(std::max(size.gpus, most_per_node(r) * nodes)));
  size.cpus = static_cast<std::uint32_t>(size.cpus);
  return size;
}

} // namespace hpcml::slurm
