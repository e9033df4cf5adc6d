// SPDX-License-Identifier: MIT
#include "core/slurm/gres_check.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "core/slurm/job_size.hpp"

namespace hpcml::slurm {
namespace {

using Count = std::uint64_t;

/// What is asked of one gres of one type; 0: nothing.
struct RequestedGres {
  std::string name;
  std::string type;
  Count per_job = 0;
  Count per_node = 0;
  Count per_socket = 0;
  Count per_task = 0;
  Count cpus_per = 0;
  Count tasks_per = 0;
};

class GresCheck {
public:
  GresCheck(const JobOptions& request, ComparisonTrackingVersion version, JobDescriptorCounts& counts)
      : r(request), x_version(version), c(counts) {}

  std::optional<GresRefusal> run() {
    x_tasks_per_gpu = static_cast<Count>(sent_count(r, "ntasks-per-gpu"));
    imply_tasks();
    collect();
    if (x_tasks_per_gpu > 0 && !apply_tasks_per_gpu() && from(Version::v21_08))
      return refuse("ntasks-per-gpu", "missing-dependency",
                    "--ntasks-per-gpu needs a number of GPUs, tasks or nodes, but the job requests none",
                    "add --gpus-per-node=N, or --ntasks=N");
    if (x_records.empty()) return std::nullopt;
    if (r.memory_mb.count("mem-per-gpu") > 0 && !x_has_gpu && from(Version::v21_08))
      return refuse_without_gpus("mem-per-gpu");
    if (r.has("cpus-per-gpu") && !x_has_gpu && from(Version::v23_02))
      return refuse_without_gpus("cpus-per-gpu");
    for (auto& record : x_records)
      if (auto refusal = check(record)) return refusal;
    return check_types();
  }

private:
  using Refusal = std::optional<GresRefusal>;
  bool from(Version version) const { return x_version >= version; }
  static Refusal refuse(std::string option, std::string code, std::string message, std::string hint) {
    return GresRefusal{std::move(option), std::move(code), std::move(message), std::move(hint)};
  }
  static Refusal refuse_without_gpus(const std::string& option) {
    return refuse(option, "missing-dependency",
                  fmt::format("--{} applies to GPUs, but the job requests none", option),
                  "add --gpus-per-node=N, or --gpus=N");
  }

  void imply_tasks() {
    if (c.tasks || !c.min_nodes || c.min_nodes != c.max_nodes) return;
    const bool per_task =
        r.has("gpus-per-task") || r.has("tres-per-task") || (c.cpus_per_task && from(Version::v23_11));
    if (!per_task && x_tasks_per_gpu == 0) return;
    if (x_tasks_per_gpu > 0)
      c.tasks = *c.min_nodes * static_cast<long>(x_tasks_per_gpu);
    else if (c.tasks_per_node)
      c.tasks = *c.min_nodes * *c.tasks_per_node;
    else if (!c.cpus_per_task)
      c.tasks = *c.min_nodes;
  }

  RequestedGres& record_of(const std::string& name, const std::string& type) {
    for (auto& record : x_records)
      // An empty type finds the record without one.
      if (record.name == name && (record.type == type || (type == ":" && record.type.empty()))) return record;
    x_records.push_back({name, type});
    return x_records.back();
  }

  void add(std::string_view option, Count RequestedGres::*field) {
    if (const auto found = r.gres.find(option); found != r.gres.end()) add(found->second, field);
  }
  void add(const std::vector<GresItem>& items, Count RequestedGres::*field) {
    for (const auto& item : items) {
      if (item.count == 0 || item.name == "cpu") continue;
      auto& record = record_of(item.name, item.type);
      record.*field = item.count;
      record.tasks_per = x_tasks_per_gpu;
      x_has_gpu = x_has_gpu || item.name == "gpu";
    }
  }

  void collect() {
    if (const auto cpus = r.count("cpus-per-gpu"); cpus > 0) {
      auto& record = record_of("gpu", {});
      record.cpus_per = static_cast<Count>(cpus);
      record.tasks_per = x_tasks_per_gpu;
    }
    add("gpus", &RequestedGres::per_job);
    add("gpus-per-node", &RequestedGres::per_node);
    add("gres", &RequestedGres::per_node);
    add("gpus-per-socket", &RequestedGres::per_socket);
    add("gpus-per-task", &RequestedGres::per_task);
    if (r.tres_per_task) add(r.tres_per_task->items, &RequestedGres::per_task);
    if (const auto memory = r.memory_mb.find("mem-per-gpu");
        memory != r.memory_mb.end() && memory->second > 0)
      record_of("gpu", {}).tasks_per = x_tasks_per_gpu;
  }

  Count gpus_of_job() const {
    Count sum = 0;
    for (const auto& record : x_records) {
      if (record.name != "gpu") continue;
      Count total = std::max(record.per_job, record.per_node * static_cast<Count>(c.min_nodes.value_or(1)));
      total = std::max(total, record.per_socket * static_cast<Count>(c.min_nodes.value_or(1) *
                                                                     c.sockets_per_node.value_or(1)));
      sum += std::max(total, record.per_task * static_cast<Count>(c.tasks.value_or(1)));
    }
    return sum;
  }

  /// Tasks by GPUs, or GPUs by tasks; false where neither is known.
  bool apply_tasks_per_gpu() {
    if (x_has_gpu) {
      c.tasks = static_cast<long>(gpus_of_job() * x_tasks_per_gpu);
      return true;
    }
    if (!c.tasks || *c.tasks == 0) return false;
    if (const Count gpus = static_cast<Count>(*c.tasks) / x_tasks_per_gpu; gpus > 0) {
      auto& record = record_of("gpu", {});
      record.per_job = gpus;
      record.tasks_per = x_tasks_per_gpu;
      x_has_gpu = true;
    }
    return true;
  }

  Refusal check(const RequestedGres& record) {
    RequestedGres g = record; // what one check derives, the next uses
    if (g.per_job > 0 && (g.per_node > g.per_job || g.per_task > g.per_job || g.per_socket > g.per_job))
      return refuse(
          "gpus", "gpus",
          fmt::format("--gpus ({}) is the total of the job, but lower than its GPUs per node, socket or "
                      "task ({})",
                      g.per_job, std::max({g.per_node, g.per_task, g.per_socket})),
          "use a higher --gpus, or remove it");
    if (g.per_node > 0 && (g.per_task > g.per_node || g.per_socket > g.per_node))
      return refuse(per_node_option(), "gpus",
                    fmt::format("the job requests {} GPUs per task or socket, but only {} per node",
                                std::max(g.per_task, g.per_socket), g.per_node),
                    fmt::format("use a higher --{}, or fewer GPUs per task or socket", per_node_option()));
    if (g.per_socket > 0 && !c.sockets_per_node)
      return refuse("gpus-per-socket", "missing-dependency", "--gpus-per-socket needs --sockets-per-node",
                    "add --sockets-per-node=N");
    if (auto refusal = check_nodes(g)) return refusal;
    if (auto refusal = check_sockets(g)) return refusal;
    if (g.tasks_per > 0 && c.tasks && from(Version::v21_08) &&
        static_cast<Count>(*c.tasks) % g.tasks_per != 0)
      return refuse(
          "ntasks-per-gpu", "gpus",
          fmt::format("--ntasks ({}) is not a multiple of --ntasks-per-gpu ({})", *c.tasks, g.tasks_per),
          "use a multiple for --ntasks, or replace it with --gpus=N");
    if (auto refusal = check_tasks(g)) return refusal;
    if (auto refusal = check_cpus(g)) return refusal;
    if (g.per_job > 0 && c.min_nodes && g.per_job < static_cast<Count>(*c.min_nodes))
      return refuse(
          "gpus", "gpus",
          fmt::format("--gpus ({}) is lower than the number of nodes ({})", g.per_job, *c.min_nodes),
          "use a higher --gpus, or request fewer nodes");
    if (g.per_job > 0 && c.max_nodes && g.per_job < static_cast<Count>(*c.max_nodes))
      c.max_nodes = static_cast<long>(g.per_job);
    return std::nullopt;
  }

  std::string per_node_option() const { return r.has("gres") ? "gres" : "gpus-per-node"; }

  Refusal check_nodes(const RequestedGres& g) {
    if (g.per_job == 0 || g.per_node == 0) return std::nullopt;
    if (g.per_job % g.per_node != 0)
      return refuse(
          "gpus", "gpus",
          fmt::format("--gpus ({}) is not a multiple of the GPUs per node ({})", g.per_job, g.per_node),
          "remove --gpus, and use --gpus-per-node with --nodes");
    const auto nodes = static_cast<long>(g.per_job / g.per_node);
    if ((c.min_nodes && nodes < *c.min_nodes) || (c.max_nodes && nodes > *c.max_nodes))
      return refuse(
          "gpus", "gpus",
          fmt::format("--gpus ({}) and the GPUs per node ({}) need {} nodes, which contradicts --nodes",
                      g.per_job, g.per_node, nodes),
          "remove --gpus, and use --gpus-per-node with --nodes");
    if (c.tasks && *c.tasks < nodes && from(Version::v26_05))
      return refuse(
          "gpus", "gpus",
          fmt::format("--gpus ({}) and the GPUs per node ({}) need {} nodes, but the job has {} tasks",
                      g.per_job, g.per_node, nodes, *c.tasks),
          "request at least one task per node, or remove --gpus");
    c.min_nodes = c.max_nodes = nodes;
    return std::nullopt;
  }

  Refusal check_sockets(const RequestedGres& g) {
    if (g.per_node == 0 || g.per_socket == 0) return std::nullopt;
    if (g.per_node % g.per_socket != 0 || *c.sockets_per_node != static_cast<long>(g.per_node / g.per_socket))
      return refuse(
          "gpus-per-socket", "gpus",
          fmt::format("the GPUs per node ({}) are not --gpus-per-socket ({}) times --sockets-per-node ({})",
                      g.per_node, g.per_socket, *c.sockets_per_node),
          "remove --gpus-per-socket, and keep the GPUs per node");
    return std::nullopt;
  }

  Refusal check_tasks(RequestedGres& g) {
    if (g.per_task == 0) return std::nullopt;
    const std::string option = r.gres.count("gpus-per-task") > 0 ? "gpus-per-task" : "tres-per-task";
    if (g.per_job > 0) {
      if (g.per_job % g.per_task != 0)
        return refuse(
            "gpus", "gpus",
            fmt::format("--gpus ({}) is not a multiple of --{} ({})", g.per_job, option, g.per_task),
            fmt::format("remove --gpus, and use --{} with --ntasks", option));
      const auto tasks = static_cast<long>(g.per_job / g.per_task);
      if (c.tasks && *c.tasks != tasks)
        return refuse(
            "gpus", "gpus",
            fmt::format("--gpus ({}) and --{} ({}) need {} tasks, but --ntasks or --nodes request {}",
                        g.per_job, option, g.per_task, tasks, *c.tasks),
            fmt::format("remove --gpus, and use --{} with --ntasks", option));
      c.tasks = tasks;
    } else if (c.tasks)
      g.per_job = g.per_task * static_cast<Count>(*c.tasks);
    else
      return refuse(
          option, "missing-dependency",
          fmt::format("--{} needs the number of tasks, nodes or GPUs, but the job sets none", option),
          "add --ntasks=N, or --nodes=N");
    if (auto refusal = follow(g.per_node, g.per_task, c.tasks_per_node, option, "node")) return refusal;
    return follow(g.per_socket, g.per_task, c.tasks_per_socket, option, "socket");
  }

  /// Tasks per node or socket that follow from its GPUs and those of a task.
  static Refusal follow(Count place, Count per_task, std::optional<long>& tasks, const std::string& option,
                        const std::string& what) {
    if (place == 0) return std::nullopt;
    if (place % per_task != 0)
      return refuse(
          option, "gpus",
          fmt::format("the GPUs per {} ({}) are not a multiple of --{} ({})", what, place, option, per_task),
          fmt::format("remove --{}, and use --gpus-per-node with --ntasks-per-node", option));
    const auto follows = static_cast<long>(place / per_task);
    if (tasks && *tasks != follows)
      return refuse(
          option, "gpus",
          fmt::format("{1} GPUs per {0} with {2} per task make {3} tasks per {0}, which contradicts "
                      "--ntasks-per-{0} ({4})",
                      what, place, per_task, follows, *tasks),
          fmt::format("remove --{}, and use --gpus-per-node with --ntasks-per-node", option));
    tasks = follows;
    return std::nullopt;
  }

  Refusal check_cpus(const RequestedGres& g) {
    if (g.cpus_per == 0 || g.per_task == 0) return std::nullopt;
    const auto cpus = static_cast<long>(g.cpus_per * g.per_task);
    if (c.cpus_per_task && *c.cpus_per_task != cpus)
      return refuse("cpus-per-task", "gpus",
                    fmt::format("--cpus-per-gpu ({}) and the GPUs per task ({}) make {} CPUs per task, but "
                                "--cpus-per-task is {}",
                                g.cpus_per, g.per_task, cpus, *c.cpus_per_task),
                    "remove --cpus-per-gpu, and keep --cpus-per-task");
    c.cpus_per_task = cpus;
    return std::nullopt;
  }

  /// gpu:4 and gpu:a100:4 together.
  Refusal check_types() const {
    const auto counts = [](const RequestedGres& g) {
      return g.per_job + g.per_node + g.per_socket + g.per_task > 0;
    };
    for (const auto& record : x_records)
      for (const auto& second : x_records)
        if (record.name == second.name && record.type.empty() && !second.type.empty() && counts(record))
          return refuse(per_node_option(), "gpu-types",
                        fmt::format("the job requests '{0}' both without a type and with a type ('{0}:{1}')",
                                    record.name, second.type),
                        "add the type to each option that requests them, or remove it from all");
    return std::nullopt;
  }

  const JobOptions& r;
  ComparisonTrackingVersion x_version;
  JobDescriptorCounts& c;
  Count x_tasks_per_gpu = 0;
  bool x_has_gpu = false;
  std::vector<RequestedGres> x_records;
};

} // namespace

RequestedCounts count_written(const JobOptions& r, ComparisonTrackingVersion version) {
  const auto later = [&] { return version >= Version::v23_02; }; // asked last, where it matters
  RequestedCounts counts;
  counts.tasks = r.count("ntasks", 1);
  counts.tasks_set = r.has("ntasks");
  if (r.nodes) counts.min_nodes = r.nodes->min, counts.max_nodes = r.nodes->max;
  counts.nodes_set = r.nodes.has_value();
  if (r.has("nodelist") && !(counts.nodes_set && later())) {
    counts.min_nodes = counts.nodes_set ? std::max(counts.min_nodes, listed_nodes(r)) : listed_nodes(r);
    counts.nodes_set = true;
  }
  const long per_node = r.count("ntasks-per-node");
  if (per_node > 0 && !counts.tasks_set && counts.is_exact() && !later()) {
    counts.tasks = counts.min_nodes * per_node;
    counts.tasks_set = true;
  }
  return counts;
}

JobDescriptorCounts count_sent(const JobOptions& r, ComparisonTrackingVersion version) {
  const auto later = [&] { return version >= Version::v23_02; }; // asked last, where it matters
  const auto size = geometry_of(r);
  const auto written = count_written(r, version);
  auto [tasks, tasks_set, min, max, nodes_set] = written;
  const long per_node = r.count("ntasks-per-node");
  const bool spread = !nodes_set && r.has("ntasks") && per_node > 0 && version >= Version::v23_11;
  if ((nodes_set || r.has("extra-node-info")) && written.is_exact() && !tasks_set &&
      (per_node == 0 || !later())) {
    tasks = std::max(min, 1L);
    for (const long factor : {r.count("sockets-per-node"), r.count("cores-per-socket", size.cores_per_socket),
                              r.count("threads-per-core", size.threads_per_core)}) {
      if (factor <= 0) continue;
      tasks *= factor;
      tasks_set = true;
    }
  } else if (nodes_set && tasks_set) {
    max = std::min(max, tasks);
    if (tasks < min) min = max = tasks;
  }
  JobDescriptorCounts sent;
  if (tasks_set) sent.tasks = tasks;
  if (nodes_set) sent.min_nodes = min;
  if (spread) sent.min_nodes = (tasks + per_node - 1) / per_node;
  if (nodes_set && max > 0) sent.max_nodes = max;
  const auto copy = [&](std::optional<long>& to, std::string_view option) {
    if (const long count = r.count(option); count > 0) to = count;
  };
  copy(sent.tasks_per_node, "ntasks-per-node");
  copy(sent.tasks_per_socket, "ntasks-per-socket");
  copy(sent.sockets_per_node, "sockets-per-node");
  copy(sent.cpus_per_task, "cpus-per-task");
  if (r.tres_per_task)
    for (const auto& item : r.tres_per_task->items)
      if (item.name == "cpu" && item.count > 0 && version >= Version::v24_05)
        sent.cpus_per_task = static_cast<long>(item.count);
  return sent;
}

std::optional<GresRefusal> check_gres(const JobOptions& request, ComparisonTrackingVersion version,
                                      JobDescriptorCounts& counts) {
  return GresCheck(request, version, counts).run();
}

} // namespace hpcml::slurm
