// SPDX-License-Identifier: MIT
// Options that sbatch does not take together.
#include <algorithm>

#include "slurm/request.hpp"

namespace hpcml::slurm {
namespace {

constexpr std::string_view k_mutual = "slurm/exclusive-options";

bool has_gpus(const Request& r) {
  return std::any_of(r.gres.begin(), r.gres.end(), [](const auto& entry) {
    return std::any_of(entry.second.begin(), entry.second.end(), [](const GresItem& item) { return item.name == "gpu"; });
  });
}

bool has_per_task(const Request& r, std::string_view name) {
  if (!r.tres_per_task) return false;
  const auto& items = r.tres_per_task->items;
  return std::any_of(items.begin(), items.end(), [&](const GresItem& item) { return item.name == name; });
}

class Checker {
public:
  Checker(const Request& request, Version version, Findings& findings) : r(request), x_version(version), x_findings(findings) {}

  void run() {
    check_memory();
    exclude("gpus-per-task", "ntasks-per-gpu");
    exclude("ntasks-per-node", "ntasks-per-gpu");
    if (from(Version::v23_02)) exclude("exclusive", "oversubscribe");
    if (from(Version::v21_08)) {
      exclude("core-spec", "thread-spec");
      exclude("cpus-per-gpu", "cpus-per-task");
    }
    check_per_task();
    check_types();
    check_gpu_sums();
    check_node_by_task();
    check_needs();
    check_nodes();
  }

private:
  bool from(Version version) const { return x_version >= version; }
  std::string dashed(std::string_view option) const { return "--" + std::string(option); }

  void error(std::string_view option, std::string code, std::string message, std::string hint) {
    x_findings.error(r.place(option), std::move(code), std::move(message), std::move(hint));
  }

  void exclude(std::string_view a, std::string_view b) {
    if (r.has(a) && r.has(b))
      error(b, std::string(k_mutual), dashed(a) + " and " + dashed(b) + " exclude each other", "keep one of them");
  }

  void check_memory() {
    exclude("mem", "mem-per-cpu");
    exclude("mem", "mem-per-gpu");
    exclude("mem-per-cpu", "mem-per-gpu");
  }

  void check_per_task() {
    if (!r.tres_per_task) return;
    const auto clash = [&](std::string_view name, std::string_view option, Version since) {
      if (has_per_task(r, name) && r.has(option) && from(since))
        error("tres-per-task", std::string(k_mutual), "--tres-per-task with " + std::string(name) + " and " + dashed(option) + " exclude each other",
              "keep one of them");
    };
    clash("cpu", "cpus-per-task", Version::v24_05);
    clash("cpu", "cpus-per-gpu", Version::v24_05);
    clash("gpu", "gpus-per-task", Version::v23_02);
  }

  /// gpu:4 and gpu:a100:4 together.
  void check_types() {
    bool typed = false;
    bool untyped = false;
    std::string_view option;
    for (const auto& [name, items] : r.gres)
      for (const auto& item : items)
        if (item.name == "gpu" && item.count > 0) {
          (item.type.empty() ? untyped : typed) = true;
          option = name;
        }
    if (typed && untyped)
      error(option, "slurm/gpu-types", "GPUs are asked for with and without a type", "name the type everywhere or nowhere");
  }

  void check_gpu_sums() {
    const auto total = r.gpus("gpus");
    const auto per_node = r.gpus_per_node();
    const auto per_task = r.gpus("gpus-per-task");
    if (from(Version::v26_05) && r.gres.count("gpus-per-node") > 0 && r.gpus("gres") > 0)
      error("gres", std::string(k_mutual), "--gpus-per-node and --gres=gpu exclude each other from 26.05", "keep one of them");
    if (total == 0) return;
    if (per_node > 0) check_total_by_node(total, per_node);
    if (per_task > 0) check_total_by_task(total, per_task);
    if (r.nodes && total < static_cast<std::uint64_t>(r.nodes->min))
      error("gpus", "slurm/gpus", "--gpus asks for fewer GPUs than nodes", "ask for at least one GPU per node");
  }

  void check_total_by_node(std::uint64_t total, std::uint64_t per_node) {
    const auto nodes = static_cast<long>(total / per_node);
    if (total % per_node != 0)
      error("gpus", "slurm/gpus", "--gpus is no multiple of the GPUs per node", "ask per node only: --gpus-per-node and --nodes");
    else if (r.nodes && (nodes < r.nodes->min || nodes > r.nodes->max))
      error("gpus", "slurm/gpus", "--gpus and the GPUs per node need " + std::to_string(nodes) + " nodes, --nodes says otherwise",
            "ask per node only: --gpus-per-node and --nodes");
  }

  long known_tasks() const {
    if (r.has("ntasks")) return r.count("ntasks");
    if (!r.nodes || r.nodes->min != r.nodes->max) return 0;
    return r.nodes->min * r.count("ntasks-per-node", 1);
  }

  void check_total_by_task(std::uint64_t total, std::uint64_t per_task) {
    if (total % per_task != 0)
      error("gpus", "slurm/gpus", "--gpus is no multiple of --gpus-per-task", "give --gpus-per-task and --ntasks only");
    else if (const long tasks = known_tasks(); tasks > 0 && static_cast<std::uint64_t>(tasks) != total / per_task)
      error("gpus", "slurm/gpus", "--gpus and --gpus-per-task need " + std::to_string(total / per_task) + " tasks, --ntasks or --nodes say otherwise",
            "give --gpus-per-task and --ntasks only");
  }

  void need(bool missing, std::string_view option, const std::string& what) {
    if (missing && r.has(option)) error(option, "slurm/needs", dashed(option) + " needs " + what, "add it");
  }

  /// Tasks per node follow from GPUs per node and per task.
  void check_node_by_task() {
    const auto per_node = r.gpus_per_node();
    const auto per_task = r.gpus("gpus-per-task");
    if (per_node == 0 || per_task == 0) return;
    const auto tasks = static_cast<long>(per_node / per_task);
    if (per_node % per_task != 0)
      error("gpus-per-task", "slurm/gpus", "the GPUs per node are no multiple of --gpus-per-task", "give --gpus-per-node and --ntasks-per-node only");
    else if (r.has("ntasks-per-node") && r.count("ntasks-per-node") != tasks)
      error("gpus-per-task", "slurm/gpus", "the GPUs per node and per task make " + std::to_string(tasks) + " tasks per node, --ntasks-per-node says otherwise",
            "give --gpus-per-node and --ntasks-per-node only");
  }

  void check_needs() {
    const bool sized = r.has_task_count() || r.gpus("gpus") > 0 || (r.has("ntasks-per-node") && !from(Version::v23_02));
    const bool per_task = r.gres.count("gpus-per-task") > 0;
    need(per_task && !sized, "gpus-per-task", "--ntasks, --nodes or --gpus");
    need(has_per_task(r, "gpu") && !sized && r.tres_per_task, "tres-per-task", "--ntasks, --nodes or --gpus");
    need(r.gres.count("gpus-per-socket") > 0 && r.count("sockets-per-node") == 0, "gpus-per-socket", "--sockets-per-node");
    const bool gpus = has_gpus(r) || has_per_task(r, "gpu") || (r.has("ntasks-per-gpu") && sized);
    if (from(Version::v21_08)) {
      const bool counted = r.gpus("gpus") > 0 || r.gpus_per_node() > 0 || r.has_task_count();
      need(!counted, "ntasks-per-gpu", "GPUs (--gpus or --gpus-per-node), --ntasks or --nodes");
      need(!counted, "ntasks-per-tres", "GPUs (--gpus or --gpus-per-node), --ntasks or --nodes");
      const long per_gpu_tasks = r.count("ntasks-per-gpu", 1);
      if (r.has("ntasks") && r.count("ntasks") % per_gpu_tasks != 0)
        error("ntasks-per-gpu", "slurm/gpus", "--ntasks is no multiple of --ntasks-per-gpu", "give --ntasks-per-gpu and the GPUs only");
      const auto per_gpu = r.memory_mb.find("mem-per-gpu");
      need(!gpus && per_gpu != r.memory_mb.end() && per_gpu->second > 0, "mem-per-gpu", "GPUs: --gpus, --gpus-per-node or --gpus-per-task");
    }
    if (from(Version::v23_02)) need(!gpus, "cpus-per-gpu", "GPUs: --gpus, --gpus-per-node or --gpus-per-task");
  }

  void check_nodes() {
    const auto& time = r.times;
    const auto limit = time.find("time");
    const auto least = time.find("time-min");
    if (limit == time.end() || least == time.end() || !limit->second.minutes) return;
    if (!least->second.minutes || *least->second.minutes > *limit->second.minutes)
      error("time-min", "slurm/time-min", "--time-min is longer than --time", "make it the shorter one");
  }

  const Request& r;
  Version x_version;
  Findings& x_findings;
};

} // namespace

void check_combinations(const Request& request, Version version, Findings& findings) {
  Checker(request, version, findings).run();
}

} // namespace hpcml::slurm
