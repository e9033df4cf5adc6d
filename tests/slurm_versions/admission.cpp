// SPDX-License-Identifier: MIT
#include "admission.hpp"

#include <algorithm>
#include <cstdlib>

#include "model/hostlist.hpp"
#include "slurm/possible.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

class Controller {
public:
  Controller(const Request& request, const JobSize& size, const ClusterFacts& cluster, Version version,
             Findings& findings)
      : r(request), s(size), c(cluster), x_version(version), x_findings(findings) {}

  void run() {
    check_names();
    check_nodelists();
    check_gres();
    check_dependencies();
    check_array();
    check_missing_parts();
    check_contradictions(r, s, x_version, x_findings);
    if (s.cpus > static_cast<long>(c.nodes.size()) * c.cpus()) return; // waits for ever, whatever the rest is
    if (r.has("hold")) return;                                         // nobody looks at the nodes yet
    if (from(Version::v25_11) && r.has("ntasks") && s.tasks < r.count("ntasks-per-node") &&
        r.gpus_per_node() > 0)
      refuse("ntasks-per-node", "layout", "fewer tasks than one node is to have, with GPUs per node");
    if (waits_anyway() || !check_node_shape() || waits_for_nodes()) return;
    if (c.gpus) check_gpu_types();
    check_layout();
  }

private:
  bool from(Version version) const { return x_version >= version; }
  void refuse(std::string_view option, std::string code, std::string message, std::string hint = {}) {
    x_findings.error(r.place(option), "site/" + std::move(code), std::move(message), std::move(hint));
  }

  void check_names() {
    const bool no_partition = r.text("partition").find_first_not_of(',') == std::string::npos;
    if (r.has("partition") && !(no_partition && from(Version::v25_11)))
      for (const auto& name : util::split(r.text("partition"), ','))
        if (!is_partition(name) && (!name.empty() || no_partition))
          refuse("partition", "partition", "there is no partition '" + name + "'", nearest_partition(name));
    for (const auto& feature : r.features)
      if (std::find(c.features.begin(), c.features.end(), feature) == c.features.end())
        refuse("constraint", "feature", "no node has the feature '" + feature + "'");
    if (const auto preferred = r.has("prefer") ? parse_features(r.text("prefer"), x_version) : std::nullopt)
      for (const auto& feature : *preferred)
        if (std::find(c.features.begin(), c.features.end(), feature) == c.features.end())
          refuse("prefer", "feature", "no node has the feature '" + feature + "'");
    for (const auto star = r.text("constraint").rfind('*'); star != std::string::npos;) {
      if (std::atol(r.text("constraint").c_str() + star + 1) > static_cast<long>(c.nodes.size()) &&
          !r.has("hold"))
        refuse("constraint", "feature", "the cluster has fewer nodes with that feature");
      break;
    }
    if (r.has("batch")) check_batch();
    if (!r.text("licenses").empty()) refuse("licenses", "licenses", "the cluster has no such licenses");
    if (!r.text("resources").empty()) refuse("resources", "resources", "the cluster has no such resources");
    if (!r.text("reservation").empty()) refuse("reservation", "reservation", "there is no such reservation");
    if (r.has("clusters") && !c.has_accounting)
      refuse("clusters", "clusters", "the cluster has no database of clusters");
  }

  /// The batch script's features have to be among those of the nodes.
  void check_batch() {
    auto known = r.features;
    for (const std::string_view option : {"prefer"})
      if (const auto more = r.has(option) ? parse_features(r.text(option), x_version) : std::nullopt)
        known.insert(known.end(), more->begin(), more->end());
    const auto wanted = parse_features(r.text("batch"), x_version);
    const bool all = wanted && std::all_of(wanted->begin(), wanted->end(), [&](const std::string& name) {
                       return std::find(known.begin(), known.end(), name) != known.end();
                     });
    if (known.empty() || !all)
      refuse("batch", "feature", "--batch names features that --constraint does not");
  }

  bool is_partition(const std::string& name) const {
    return std::any_of(c.partitions.begin(), c.partitions.end(),
                       [&](const PartitionFacts& p) { return p.name == name; });
  }

  std::string nearest_partition(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& partition : c.partitions) names.push_back(partition.name);
    const auto near = util::nearest(name, names);
    return near ? "did you mean " + *near + "?" : "it has " + util::join(names, ", ");
  }

  std::optional<std::vector<std::string>> names_of(std::string_view option) {
    if (!r.has(option)) return std::vector<std::string>{};
    const auto list = model::Hostlist::parse(hostlist_text(r.text(option)));
    const auto is_node = [&](const std::string& name) {
      return std::find(c.nodes.begin(), c.nodes.end(), name) != c.nodes.end();
    };
    if (list && std::all_of(list->names().begin(), list->names().end(), is_node)) return list->names();
    refuse(option, "node-name", "--" + std::string(option) + " names nodes that the cluster does not have");
    return std::nullopt;
  }

  void check_nodelists() {
    const auto wanted = names_of("nodelist");
    const auto excluded = names_of("exclude");
    if (!wanted || !excluded) return;
    const std::set<std::string> without(excluded->begin(), excluded->end());
    x_usable_nodes = static_cast<long>(c.nodes.size() - without.size());
    if (r.has("nodelist") && wanted->empty() && !r.nodes)
      refuse("nodelist", "node-count", "--nodelist names no node");
  }

  void check_gres() {
    for (const auto& [option, items] : r.gres)
      for (const auto& item : items) check_gres_item(option, item);
    if (r.tres_per_task)
      for (const auto& item : r.tres_per_task->items)
        if (item.name != "cpu") check_gres_item("tres-per-task", item);
  }

  void check_gres_item(std::string_view option, const GresItem& item) {
    if (item.name != "gpu" && item.count == 0 && from(Version::v21_08)) return;
    // "gpu:1.5": a count that is none, not a type.
    if (x_version == Version::v22_05 && item.count == 1 && !item.type.empty() && item.type[0] >= '0' &&
        item.type[0] <= '9')
      return refuse(option, "gres", "'" + item.type + "' is no whole number");
    if (!c.gpus || item.name != "gpu")
      refuse(option, "gres", "the cluster has no gres '" + item.name + "'", "gpu is the name for GPUs");
  }

  void check_gpu_types() {
    const auto check = [&](std::string_view option, const GresItem& item) {
      if (item.name == "gpu" && item.count > 0 && !item.type.empty() && item.type != c.gpus->type)
        refuse(option, "gpu-type", "the cluster has no GPUs of type '" + item.type + "'",
               "its type is " + c.gpus->type + "; capitals count");
    };
    for (const auto& [option, items] : r.gres)
      for (const auto& item : items) check(option, item);
    if (r.tres_per_task)
      for (const auto& item : r.tres_per_task->items) check("tres-per-task", item);
  }

  void check_dependencies() {
    for (const auto& dependency : r.dependencies.list) {
      if (dependency.type == "singleton") continue;
      const bool known = c.jobs.count(dependency.job) > 0;
      const bool strict =
          (dependency.type == "afterok" || dependency.type == "afternotok") && from(Version::v23_02);
      if (strict && !known) refuse("dependency", "dependency", "there is no job " + dependency.job);
    }
    if (r.signal && r.signal->at_reservation && !c.has_preemption && from(Version::v24_11))
      refuse("signal", "preemption", "--signal=R: needs preemption, which the cluster does not have");
  }

  void check_array() {
    if (r.text("array").empty() || parse_array(r.text("array"), c.max_array_size)) return;
    refuse("array", "array",
           "the cluster takes array indices below " + std::to_string(c.max_array_size) + " only");
  }

  /// What only a site's set-up provides.
  void check_missing_parts() {
    if (const auto least = r.times.find("time-min"); least != r.times.end() && r.times.count("time") == 0) {
      const auto partitions = partitions_of(r, c);
      const bool bounded = partitions.size() == 1 && partitions.front() && partitions.front()->max_minutes;
      if (!least->second.minutes || (bounded && *least->second.minutes > *partitions.front()->max_minutes))
        refuse("time-min", "time-min", "--time-min is longer than the partition allows");
    }
    check_sampling();
    if (r.has("resv-ports")) refuse("resv-ports", "stepmgr", "--resv-ports needs slurmstepd to manage steps");
    if (r.has("external") && from(Version::v26_05))
      refuse("external", "external", "the cluster is not set up for external jobs");
    if (util::to_lower(r.text("gres-flags")).find("one-task-per-sharing") != std::string::npos)
      refuse("gres-flags", "gres-flags", "the cluster does not share GPUs between tasks");
    for (const std::string_view option : {"nodefile", "export-file", "bbf"})
      if (r.has(option) && (option == "nodefile" || c.files.count(r.text(option)) == 0))
        refuse(option, "file", "the file '" + r.text(option) + "' is not there, or names no nodes");
    for (const char* option : {"uid", "gid"})
      if (const auto name = r.text(option); !name.empty() && !c.users.empty() &&
                                            name.find_first_not_of("+0123456789") != std::string::npos &&
                                            c.users.count(name) == 0)
        refuse(option, "user", "the cluster does not know '" + name + "'");
    if (util::to_lower(r.text("requeue")) == "expedite")
      refuse("requeue", "requeue", "the cluster does not expedite jobs that come again");
    check_governor();
    check_deadline();
    const auto tmp = r.memory_mb.find("tmp");
    if (tmp != r.memory_mb.end() && tmp->second > 0)
      refuse("tmp", "tmp", "no node offers that much temporary disk");
  }

  void check_governor() {
    const auto asked = r.has("cpu-freq") ? parse_cpu_frequency(r.text("cpu-freq"), x_version) : std::nullopt;
    if (!asked) return;
    if (!asked->min.empty() && asked->governor.empty() && from(Version::v23_11))
      refuse("cpu-freq", "governor", "the cluster names no governor for a range: --cpu-freq has to");
    if (!asked->governor.empty() && c.governors.count(asked->governor) == 0)
      refuse("cpu-freq", "governor", "the cluster does not let jobs choose " + asked->governor);
  }

  /// What can be said of it without a clock.
  void check_deadline() {
    const auto deadline = r.has("deadline") ? parse_moment(r.text("deadline"), x_version) : std::nullopt;
    if (!deadline) return;
    const auto late = [&] { refuse("deadline", "deadline", "the job cannot end before its --deadline"); };
    const Moment begin = parse_moment(r.text("begin"), x_version).value_or(Moment{});
    if (deadline->year > 0 && deadline->year < 2020) return late();
    if (begin.is_from_now && deadline->is_from_now && begin.seconds > deadline->seconds) return late();
    if (begin.year > 2020 && deadline->is_from_now) return late();
    const auto time = r.times.find("time"), least = r.times.find("time-min");
    const bool limited = time != r.times.end() && from(Version::v23_02); // before that nobody looks at it
    const auto* length = least != r.times.end() ? &least->second : limited ? &time->second : nullptr;
    if (length && !length->minutes) return late();
    if (!deadline->is_from_now) return;
    const long long start = from(Version::v23_02) ? std::max(0LL, begin.seconds) : 0;
    const long long seconds = length ? static_cast<long long>(*length->minutes) * 60 : 0;
    if (deadline->seconds < start + seconds) late();
  }

  void check_sampling() {
    if (!r.has("acctg-freq")) return;
    for (auto part : util::split(r.text("acctg-freq"), ',')) {
      if (util::starts_with(util::to_lower(part), "task=")) part = part.substr(5);
      const auto seconds = util::parse_unsigned(part);
      if (seconds && (*seconds == 0 || *seconds > c.accounting_seconds))
        refuse("acctg-freq", "acctg-freq",
               "the cluster samples a job's use every " + std::to_string(c.accounting_seconds) +
                   " seconds at least");
    }
  }

  /// Where the wanted nodes take no jobs, nobody looks at their GPUs and at how the tasks would lie.
  bool waits_for_nodes() const { return c.drained && r.has("nodelist"); }

  /// How many tasks a node of the job must hold at least where an option says so; the first of these counts.
  std::pair<std::string_view, long> least_tasks() const {
    if (s.tasks_per_node > 0) return {};
    for (const std::string_view option : {"ntasks-per-socket", "ntasks-per-core"})
      if (const long count = r.count(option); count > 0) return {option, count};
    if (!r.has("ntasks-per-gpu") || !from(Version::v21_08)) return {};
    const bool spreads = from(Version::v23_02) && s.min_nodes != s.max_nodes;
    return {"ntasks-per-gpu", spreads ? r.count("ntasks-per-gpu") : s.tasks / std::max(1L, s.min_nodes)};
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
    if (s.cpus_per_node > cpus || gpu_cpus > c.cpus())
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

  long max_nodes() const {
    long most = static_cast<long>(c.nodes.size());
    const auto partitions = partitions_of(r, c);
    if (partitions.size() == 1 && partitions.front() && partitions.front()->max_nodes)
      most = std::min<long>(most, *partitions.front()->max_nodes);
    return most;
  }

  /// Nodes as the versions compute them from tasks per node before the nodes are checked.
  long needed_nodes() const {
    long nodes = s.min_nodes;
    if (from(Version::v23_11) && !s.nodes_given && r.has("ntasks-per-node"))
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
    if (is_too_long() && !from(Version::v26_05)) return true;
    const long filled = (s.cpus + c.cpus() - 1) / c.cpus();
    // What the request allows and the partition does not.
    if (s.nodes_given && filled > max_nodes() && filled <= s.max_nodes && x_version != Version::v25_05)
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

  void check_layout() {
    const bool only_listed = r.has("nodelist") && !r.nodes;
    const long nodes = s.max_nodes > 0 && !only_listed ? std::min(s.max_nodes, max_nodes()) : max_nodes();
    const long cores = c.sockets * static_cast<long>(c.cores_per_socket);
    const auto need = [&](bool beyond, std::string_view option, const std::string& what) {
      if (beyond) refuse(option, "layout", what + " do not fit on " + std::to_string(nodes) + " nodes");
    };
    need(s.min_nodes > x_usable_nodes, "exclude", "the nodes asked for");
    const long threads = s.threads_per_core > 0 ? s.threads_per_core : c.threads_per_core;
    need(!r.overcommit && s.cpus > nodes * cores * threads, "ntasks", std::to_string(s.cpus) + " CPUs");
    need(!only_listed && exceeds_places(r, s, nodes, x_version), "ntasks",
         std::to_string(s.tasks) + " tasks");
    if (const long per = r.count("ntasks-per-socket"); per > 0)
      need((s.tasks > std::min(nodes, x_usable_nodes) * per * c.sockets && !r.overcommit && !only_listed) ||
               s.tasks_per_node > per * c.sockets,
           "ntasks-per-socket", "the tasks per socket");
    if (const long per = r.count("ntasks-per-core"); per > 0)
      need(s.tasks > nodes * per * cores || s.tasks_per_node > per * cores, "ntasks-per-core",
           "the tasks per core");
    check_gpu_layout(nodes);
  }

  void check_gpu_layout(long nodes) {
    const auto per_node = static_cast<std::uint64_t>(c.gpus ? c.gpus->count : 0);
    // Every node gets a task.
    const long tasks = s.tasks_known > 0 ? s.tasks_known : s.nodes_given ? 0 : s.tasks_per_node;
    const bool by_geometry = r.has("extra-node-info") && !s.nodes_given;
    if (tasks > 0 && (r.has("ntasks") || r.has("ntasks-per-node") || by_geometry))
      nodes = std::min(nodes, tasks);
    const bool proves = !(from(Version::v26_05) && nodes == 1); // it no longer does for one node
    const auto room = per_node * static_cast<std::uint64_t>(nodes);
    const auto by_tasks = s.gpus_per_task * static_cast<std::uint64_t>(s.tasks);
    if ((proves && s.gpus > room) || s.gpus > per_node * c.nodes.size() || by_tasks > room)
      refuse("gpus", "gpus", "that many GPUs are not on " + std::to_string(nodes) + " nodes");
    // Measured: bound GPUs leave no cores where each task needs a whole one and asks for a thread of it.
    const bool whole_cores = r.count("ntasks-per-core") == 1 && s.cpus_per_task == 1 &&
                             s.threads_per_core != 1 && s.tasks_per_node == 0;
    if (x_version == Version::v22_05 && whole_cores && s.gpus > 0 && s.gpus_per_task == 0 &&
        util::to_lower(r.text("gres-flags")) == "enforce-binding")
      refuse("gres-flags", "gres-flags",
             "--gres-flags=enforce-binding does not go with --ntasks-per-core=1 in this version");
    // As many tasks on each node.
    const bool by_tasks_alone = !r.overcommit && !r.has("cpus-per-gpu");
    if (by_tasks_alone && least_tasks().first == "ntasks-per-gpu" && s.nodes_given &&
        s.min_nodes == s.max_nodes && s.tasks % s.min_nodes != 0)
      refuse("ntasks-per-gpu", "gpus",
             "the tasks cannot be spread evenly over " + std::to_string(s.min_nodes) + " nodes");
    const auto node_gpus = r.gpus_per_node();
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

  const Request& r;
  const JobSize& s;
  const ClusterFacts& c;
  Version x_version;
  Findings& x_findings;
  long x_usable_nodes = 1L << 30;
};

} // namespace

void check_admission(const Request& request, const JobSize& size, const ClusterFacts& cluster,
                     Version version, Findings& findings) {
  Controller(request, size, cluster, version, findings).run();
}

std::vector<const PartitionFacts*> partitions_of(const Request& request, const ClusterFacts& cluster) {
  std::vector<const PartitionFacts*> found;
  if (request.text("partition").find_first_not_of(',') == std::string::npos) {
    if (!cluster.partitions.empty()) found.push_back(&cluster.partitions.front());
    return found;
  }
  for (const auto& name : util::split(request.text("partition"), ',')) {
    if (name.empty()) continue;
    const auto match = std::find_if(cluster.partitions.begin(), cluster.partitions.end(),
                                    [&](const PartitionFacts& p) { return p.name == name; });
    found.push_back(match == cluster.partitions.end() ? nullptr : &*match);
  }
  return found;
}

} // namespace hpcml::slurm
