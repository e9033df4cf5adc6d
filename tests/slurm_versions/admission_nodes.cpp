// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>
#include <set>

#include "admission_part.hpp"
#include "model/hostlist.hpp"
#include "slurm/possible.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

class NodeCheck : AdmissionPart {
public:
  using AdmissionPart::AdmissionPart;

  void run() {
    if (s.cpus > static_cast<long>(c.nodes.size()) * c.cpus()) return; // waits for ever, whatever the rest is
    if (r.has("hold")) return;                                         // nobody looks at the nodes yet
    if (from(Version::v25_11) && r.has("ntasks") && s.tasks < r.count("ntasks-per-node") &&
        r.gpus_per_node() > 0)
      refuse("ntasks-per-node", "layout", "fewer tasks than one node is to have, with GPUs per node");
    if (waits_anyway() || !check_node_shape() || waits_for_nodes()) return;
    if (c.gpus) check_gpu_types();
    check_amounts();
    check_layout();
  }

private:
  /// Temporary disk, and nodes with a feature.
  void check_amounts() {
    const auto tmp = r.memory_mb.find("tmp");
    if (tmp != r.memory_mb.end() && tmp->second > 0)
      refuse("tmp", "tmp", "no node offers that much temporary disk");
    const auto constraint = r.text("constraint");
    if (const auto star = constraint.rfind('*');
        star != std::string::npos &&
        std::atol(constraint.c_str() + star + 1) > static_cast<long>(c.nodes.size()))
      refuse("constraint", "feature", "the cluster has fewer nodes with that feature");
  }

  void check_gpu_types() {
    const auto check = [&](std::string_view option, const GresItem& item) {
      if (item.name == "gpu" && item.count > 0 && !item.type.empty() && item.type != c.gpus->type)
        refuse(option, "gpu-type", "the cluster has no GPUs of type '" + item.type + "'",
               "its type is " + c.gpus->type + "; capitals count");
    };
    // From 23.11 to 24.11 the second of several per task is passed over.
    const bool first_only = from(Version::v23_11) && !from(Version::v25_05);
    for (const auto& [option, items] : r.gres)
      for (const auto& item : items)
        if (option != "gpus-per-task" || &item == &items.front() || !first_only) check(option, item);
    if (r.tres_per_task)
      for (const auto& item : r.tres_per_task->items) check("tres-per-task", item);
  }

  /// Where the wanted nodes take no jobs, nobody looks at their GPUs and at how the tasks would lie.
  bool waits_for_nodes() const {
    const long named = listed_nodes(r);
    const bool fewer_tasks = r.has("ntasks") && r.count("ntasks") < named && from(Version::v23_02);
    return c.drained && named > 0 && !fewer_tasks && !has_choice(r, x_version);
  }

  /// How many tasks a node of the job must hold at least where an option says so; the first of these counts.
  std::pair<std::string_view, long> least_tasks() const {
    if (s.tasks_per_node > 0) return {};
    for (const std::string_view option : {"ntasks-per-socket", "ntasks-per-core"})
      if (const long count = sent_count(r, option); count > 0) return {option, count};
    if (!r.has("ntasks-per-gpu")) return {};
    const bool spreads = from(Version::v23_02) && s.min_nodes != s.max_nodes;
    const long per_node = std::max(1L, static_cast<long>(r.gpus_per_node()));
    return {"ntasks-per-gpu",
            spreads ? sent_count(r, "ntasks-per-gpu") * per_node : s.tasks / std::max(1L, s.min_nodes)};
  }

  /// What every node of the job must have; false where none has it.
  bool check_node_shape() {
    const auto before = x_findings.list().size();
    const auto beyond = [](long wanted, unsigned there) { return wanted > static_cast<long>(there); };
    if (beyond(s.sockets_per_node, c.sockets) || beyond(s.cores_per_socket, c.cores_per_socket) ||
        beyond(s.threads_per_core, c.threads_per_core) || s.threads_per_core < 0)
      refuse("threads-per-core", "node-shape", "no node has that many sockets, cores or threads");
    const long threads = s.threads_per_core > 0 ? s.threads_per_core : c.threads_per_core;
    const long cpus =
        waits_for_nodes() ? c.cpus() : c.sockets * static_cast<long>(c.cores_per_socket) * threads;
    // Where the job has the node alone it has all of its GPUs.
    const auto node_gpus = has_whole_nodes() && c.gpus ? c.gpus->count : s.gpus_per_node;
    const long gpu_cpus = r.count("cpus-per-gpu") * static_cast<long>(node_gpus);
    const auto [option, least] = least_tasks();
    if (!option.empty() && !waits_for_nodes() && (!r.overcommit || option == "ntasks-per-gpu") &&
        least * s.cpus_per_task > cpus)
      refuse(option, "node-shape",
             "a node of the job must hold " + std::to_string(least) + " tasks at least");
    if (from(Version::v25_11) && c.gpus && least * static_cast<long>(s.gpus_per_task) > c.gpus->count)
      refuse(option, "node-shape", "a node has too few GPUs for the least number of tasks");
    if (s.cpus_per_node % 65536 > cpus || gpu_cpus > c.cpus())
      refuse("cpus-per-task", "cpus-per-node",
             "one node must offer " + std::to_string(std::max(s.cpus_per_node, gpu_cpus)) + " CPUs, it has " +
                 std::to_string(cpus));
    if (r.overcommit && s.tasks_per_node > c.cpus())
      refuse("ntasks-per-node", "cpus-per-node", "more tasks per node than CPUs");
    if (memory_per_node() > c.memory_mb)
      refuse(r.has("mem")           ? "mem"
             : r.has("mem-per-cpu") ? "mem-per-cpu"
                                    : "mem-per-gpu",
             "memory",
             "one node must offer " + std::to_string(memory_per_node()) + " MB, it has " +
                 std::to_string(c.memory_mb));
    if (!waits_for_nodes() && s.gpus_per_node > (c.gpus ? c.gpus->count : 0))
      refuse("gres", "gpus-per-node", "no node has " + std::to_string(s.gpus_per_node) + " GPUs");
    return x_findings.list().size() == before;
  }

  std::uint64_t memory_of(std::string_view option) const {
    const auto found = r.memory_mb.find(option);
    return found == r.memory_mb.end() ? 0 : found->second;
  }

  bool has_whole_nodes() const {
    const auto partitions = partitions_of(r, c);
    return !partitions.empty() && partitions.front() && partitions.front()->whole_nodes;
  }

  std::uint64_t memory_per_node() const {
    const bool whole = has_whole_nodes() && !waits_for_nodes();
    // A job that has the node alone pays per CPU for all of them.
    const long least =
        std::max({1L, s.cpus_per_node, (s.cpus + s.min_nodes - 1) / std::max(1L, s.min_nodes)});
    const long cpus = whole ? c.cpus() : std::min(least, c.cpus());
    const auto gpus =
        whole && c.gpus && (s.gpus > 0 || x_version == Version::v20_11)
            ? c.gpus->count
            : std::max<std::uint64_t>(
                  s.gpus_per_node,
                  s.gpus_per_node == 0 ? std::min<std::uint64_t>(s.gpus, c.gpus ? c.gpus->count : 0) : 0);
    return std::max({memory_of("mem"), memory_of("mem-per-cpu") * static_cast<std::uint64_t>(cpus),
                     memory_of("mem-per-gpu") * gpus});
  }

  /// Nodes as the versions compute them from tasks per node before the nodes are checked.
  long needed_nodes() const {
    long nodes = s.min_nodes;
    if (from(Version::v23_11) && !s.nodes_given && r.has("ntasks-per-node") && s.tasks_per_node > 0)
      nodes = std::max(nodes, (s.tasks + s.tasks_per_node - 1) / s.tasks_per_node);
    return nodes;
  }

  /// A job over the partition's limits is not refused: it waits for ever.
  bool waits_anyway() {
    const long nodes = needed_nodes();
    const bool beyond = nodes > static_cast<long>(c.nodes.size());
    const auto partitions = partitions_of(r, c);
    const bool narrow = !partitions.empty() && partitions.back() && partitions.back()->max_nodes;
    const bool proves = x_version == Version::v24_11 || x_version == Version::v25_05
                            ? !narrow
                            : !from(Version::v24_11) && partitions.size() > 1 && !narrow;
    if (beyond && proves) {
      refuse("nodes", "nodes", "the cluster has fewer nodes");
      return true;
    }
    if (is_too_long() && !from(Version::v24_11)) return true;
    const long filled = (s.cpus + c.cpus() - 1) / c.cpus();
    // What the request allows and the partition does not.
    if (s.nodes_given && filled > max_nodes() && filled <= s.max_nodes && !looks_at_partitions(x_version))
      return true;
    const long by_cpus = s.nodes_given ? 0 : filled;
    return beyond || nodes > max_nodes() || (from(Version::v26_05) && by_cpus > max_nodes());
  }

  /// A time limit over the partition's makes the job wait, too.
  bool is_too_long() const {
    const auto time = r.times.find("time");
    const auto partitions = partitions_of(r, c);
    if (time == r.times.end() || partitions.size() != 1 || !partitions.front() ||
        !partitions.front()->max_minutes)
      return false;
    return !r.has("time-min") &&
           (!time->second.minutes || *time->second.minutes > *partitions.front()->max_minutes);
  }

  /// Those that --exclude leaves.
  long usable_nodes() const {
    const auto list = model::Hostlist::parse(hostlist_text(r.text("exclude")));
    std::set<std::string> without;
    if (list && r.has("exclude")) without.insert(list->names().begin(), list->names().end());
    return static_cast<long>(c.nodes.size() - without.size());
  }

  static bool looks_at_partitions(Version version) {
    return version == Version::v24_11 || version == Version::v25_05;
  }

  /// Where the partition allows fewer nodes than the request the job waits, as it does in 26.05 for one of
  /// several numbers.
  bool places_may_come() const {
    const bool narrow = s.nodes_given && s.max_nodes > max_nodes();
    return (narrow && !looks_at_partitions(x_version)) ||
           (r.nodes && r.nodes->is_list && from(Version::v26_05));
  }

  /// None of the listed numbers of nodes is enough for the tasks and within the partition.
  bool waits_in_vain() const {
    if (!r.nodes || !r.nodes->is_list || s.tasks_per_node == 0 || !r.has("ntasks") ||
        !looks_at_partitions(x_version))
      return false;
    return std::none_of(r.nodes->counts.begin(), r.nodes->counts.end(), [&](long count) {
      return count <= max_nodes() && count * s.tasks_per_node >= s.tasks;
    });
  }

  void check_layout() {
    const bool only_listed = r.has("nodelist") && !r.nodes;
    const long nodes = s.max_nodes > 0 && !only_listed ? std::min(s.max_nodes, max_nodes()) : max_nodes();
    const long cores = c.sockets * static_cast<long>(c.cores_per_socket);
    const auto need = [&](bool beyond, std::string_view option, const std::string& what) {
      if (beyond) refuse(option, "layout", what + " do not fit on " + std::to_string(nodes) + " nodes");
    };
    const bool asked_later = has_choice(r, x_version) && !from(Version::v23_11);
    if (asked_later) return;
    need(s.min_nodes > usable_nodes(), "exclude", "the nodes asked for");
    const long threads = s.threads_per_core > 0 ? s.threads_per_core : c.threads_per_core;
    need(!r.overcommit && s.cpus > std::min(nodes, usable_nodes()) * cores * threads, "ntasks",
         std::to_string(s.cpus) + " CPUs");
    need(!only_listed && !places_may_come() && exceeds_places(r, s, nodes, x_version), "ntasks",
         std::to_string(s.tasks) + " tasks");
    need(waits_in_vain(), "nodes", "none of the numbers of nodes");
    if (const long per = r.count("ntasks-per-socket"); per > 0)
      need((s.tasks > std::min(nodes, usable_nodes()) * per * c.sockets && !r.overcommit && !only_listed) ||
               s.tasks_per_node > per * c.sockets,
           "ntasks-per-socket", "the tasks per socket");
    if (const long per = r.count("ntasks-per-core"); per > 0)
      need(s.tasks > nodes * per * cores || s.tasks_per_node > per * cores, "ntasks-per-core",
           "the tasks per core");
    check_gpu_layout(nodes);
  }

  /// From 23.11 tasks that are counted do not meet with GPUs that are bound, at first only with GPUs of the
  /// job.
  bool has_enough_tasks() const {
    return r.has("ntasks") && (r.gpus_per_node() == 0 || from(Version::v25_11));
  }

  /// From 24.05 the tasks that get GPUs need their CPUs, whatever the job was counted to have.
  void check_cpus_of_tasks() {
    const bool by_tasks = s.gpus_per_task > 0 || (r.has("ntasks-per-gpu") && r.gpus_per_node() == 0);
    const long needed = s.tasks * s.cpus_per_task;
    // One on each node is found where one node is too small for all.
    const bool spreads =
        needed > c.cpus() && s.tasks <= static_cast<long>(c.nodes.size()) && r.count("ntasks-per-gpu") < 2;
    if (by_tasks && !r.has("cpus-per-gpu") && needed > s.cpus && !spreads && from(Version::v24_05))
      refuse(r.has("ntasks-per-gpu") ? "ntasks-per-gpu" : "gpus-per-task", "cpus-of-tasks",
             "the tasks that get GPUs need more CPUs than the job has");
    // Each GPU's CPUs have to do for its tasks.
    const long threads = c.threads_per_core;
    const long per_gpu = (r.count("cpus-per-gpu") + threads - 1) / threads * threads; // whole cores
    if (per_gpu > 0 && per_gpu < r.count("ntasks-per-gpu") && from(Version::v21_08) && !from(Version::v24_11))
      refuse("cpus-per-gpu", "cpus-of-tasks", "a GPU has fewer CPUs than tasks");
  }

  /// No more tasks than the GPUs that were asked for are to have.
  void check_tasks_on_gpus() {
    const long per_gpu = r.count("ntasks-per-gpu"), tasks = r.count("ntasks");
    const auto gpus =
        r.gpus("gpus") > 0 ? r.gpus("gpus") : r.gpus_per_node() * static_cast<std::uint64_t>(s.min_nodes);
    if (per_gpu == 0 || gpus == 0 || tasks <= per_gpu * static_cast<long>(gpus)) return;
    const bool exact = s.nodes_given && r.nodes && r.nodes->min == r.nodes->max;
    const bool uneven = r.gpus("gpus") > 0 && tasks % per_gpu != 0;
    if ((exact && from(Version::v22_05)) || (uneven && from(Version::v24_05)))
      refuse("ntasks", "gpus", "more tasks than --ntasks-per-gpu lets the GPUs have");
  }

  /// Measured: which versions give no more nodes than tasks to a job that names no nodes and -B.
  bool counts_tasks_by_geometry() const {
    if (r.has("ntasks-per-node"))
      return x_version == Version::v22_05 || from(Version::v26_05) ||
             (s.tasks_per_node > 1 && !from(Version::v23_02));
    if (r.has("ntasks") || s.tasks_known > 1) return !from(Version::v24_05) || from(Version::v26_05);
    return from(Version::v22_05) && !from(Version::v24_05);
  }

  void check_gpu_layout(long nodes) {
    const auto per_node = static_cast<std::uint64_t>(c.gpus ? c.gpus->count : 0);
    // Every node gets a task.
    const long tasks = s.tasks_known > 0 ? s.tasks_known : s.nodes_given ? 0 : s.tasks_per_node;
    const bool by_geometry = r.has("extra-node-info") && !s.nodes_given;
    const bool ranged =
        !s.nodes_given && from(Version::v24_05) && !from(Version::v26_05); // as many as it takes
    const bool counts =
        by_geometry ? counts_tasks_by_geometry() : (r.has("ntasks") && !ranged) || r.has("ntasks-per-node");
    if (tasks > 0 && counts) nodes = std::min(nodes, tasks);
    const bool proves = !(from(Version::v26_05) && nodes == 1); // it no longer does for one node
    const auto room = per_node * static_cast<std::uint64_t>(nodes);
    const auto by_tasks = s.gpus_per_task * static_cast<std::uint64_t>(s.tasks);
    if ((proves && s.gpus > room) || s.gpus > per_node * c.nodes.size() || by_tasks > room)
      refuse("gpus", "gpus", "that many GPUs are not on " + std::to_string(nodes) + " nodes");
    // Measured: bound GPUs leave no cores where each task needs a whole one and asks for a thread of it.
    const bool whole_cores = r.count("ntasks-per-core") == 1 && s.cpus_per_task == 1 &&
                             s.threads_per_core != 1 && s.tasks_per_node == 0;
    const bool counted = (from(Version::v23_11) && (r.has("cpus-per-gpu") || has_enough_tasks())) ||
                         (from(Version::v23_02) && r.has("ntasks-per-gpu")) ||
                         (from(Version::v25_11) && r.has("extra-node-info"));
    if (from(Version::v22_05) && whole_cores && s.gpus > 0 && s.gpus_per_task == 0 && !counted &&
        util::to_lower(r.text("gres-flags")) == "enforce-binding")
      refuse("gres-flags", "gres-flags",
             "--gres-flags=enforce-binding does not go with --ntasks-per-core=1 in this version");
    check_cpus_of_tasks();
    if (r.overcommit && s.gpus > 0 && s.max_nodes == 1 && s.tasks > c.cpus())
      refuse("ntasks", "layout", "one node with GPUs takes no more tasks than it has CPUs");
    const auto on_node = static_cast<std::uint64_t>(r.count("ntasks-per-node")) * s.gpus_per_task;
    if (on_node > per_node && !from(Version::v23_02))
      refuse("ntasks-per-node", "gpus", "a node does not have that many GPUs for its tasks");
    // As many tasks on each node.
    const bool by_tasks_alone = !r.overcommit && !r.has("cpus-per-gpu") && from(Version::v22_05);
    if (by_tasks_alone && least_tasks().first == "ntasks-per-gpu" && s.nodes_given &&
        s.min_nodes == s.max_nodes &&
        (s.tasks % s.min_nodes != 0 ||
         (r.gpus("gpus") % static_cast<std::uint64_t>(s.min_nodes) != 0 && from(Version::v24_05))))
      refuse("ntasks-per-gpu", "gpus",
             "the tasks cannot be spread evenly over " + std::to_string(s.min_nodes) + " nodes");
    const auto node_gpus = r.gpus_per_node();
    check_tasks_on_gpus();
    if (const long per_gpu = r.count("ntasks-per-gpu");
        per_gpu > 0 && node_gpus > 0 && from(Version::v21_08) &&
        s.tasks / per_gpu > static_cast<long>(node_gpus) * nodes)
      refuse("ntasks-per-gpu", "gpus",
             "that many tasks per GPU do not fit on " + std::to_string(nodes) + " nodes");
    if (node_gpus == 0 || s.gpus_per_task == 0) return;
    const bool unequal =
        by_tasks !=
        node_gpus * static_cast<std::uint64_t>(std::max(
                        needed_nodes(),
                        s.tasks_per_node > 0 ? (s.tasks + s.tasks_per_node - 1) / s.tasks_per_node : 1));
    if (!from(Version::v22_05) || (from(Version::v25_11) && unequal))
      refuse("gpus-per-task", "gpus-per-task",
             "--gpus-per-task does not go with that many GPUs per node in this version", "keep one of them");
  }
};

} // namespace

void check_nodes(const Request& request, const JobSize& size, const ClusterFacts& cluster, Version version,
                 Findings& findings) {
  NodeCheck(request, size, cluster, version, findings).run();
}

} // namespace hpcml::slurm
