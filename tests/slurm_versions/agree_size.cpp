// SPDX-License-Identifier: MIT
#include "agree_part.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/slurm/gres_check.hpp"
#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

class SizePrinter : FieldPart {
public:
  SizePrinter(const slurm::JobOptions& request, const slurm::JobSize& size,
              const slurm::ClusterFacts& cluster, slurm::Version version, Fields& fields)
      : FieldPart(request, size, cluster, version, fields), x_sent(slurm::count_sent(request, version)) {
    (void)slurm::check_gres(request, version, x_sent);
  }

  void run() {
    print_size();
    print_memory();
  }

private:
  /// "1-3,5".
  static std::string count_text(const std::vector<long>& counts) {
    return index_text(std::vector<unsigned>(counts.begin(), counts.end()));
  }

  static long ceiling(long a, long b) { return (a + b - 1) / b; }

  /// As the controller estimates nodes of a job that waits: by the first of these that was asked for.
  long estimated_nodes() const {
    const long per_core = slurm::sent_count(r, "ntasks-per-core");
    const long tasks = s.tasks_known;
    if (s.tasks_per_node > 0) return tasks / s.tasks_per_node;
    if (s.cpus_per_task > 1) {
      const long per_node = std::max(1L, c.cpus() / s.cpus_per_task);
      const bool rounds_up = !from(Version::v23_02) && tasks % per_node != 0 && x_sent.tasks;
      return std::max(s.min_nodes, tasks / per_node) + (rounds_up ? 1 : 0);
    }
    if (per_core > 0)
      return ceiling(ceiling(tasks, per_core), static_cast<long>(c.sockets) * c.cores_per_socket);
    return ceiling(tasks, c.cpus());
  }

  /// As sbatch counts them from 23.11, with the number as it was written.
  long nodes_by_tasks() const {
    const long per_node = r.count("ntasks-per-node");
    const bool counts = from(Version::v23_11) && !s.nodes_given && per_node > 0 && r.has("ntasks");
    return counts ? ceiling(s.tasks, per_node) : 0;
  }

  std::string node_text() const {
    const bool cut =
        r.nodes && ((r.has("ntasks") && s.tasks_known < r.nodes->max) || s.max_nodes < r.nodes->max);
    if (r.nodes && r.nodes->is_list && !cut) return count_text(r.nodes->counts);
    long least = s.min_nodes;
    least = std::max(least, nodes_by_tasks());
    long nodes = std::max(least, estimated_nodes());
    long most = r.has("nodelist") && !r.nodes ? x_sent.max_nodes.value_or(0) : s.max_nodes;
    if (most == 0 && r.has("spread-job") && s.tasks_known > 0)
      most = x_version == Version::v23_02 ? s.tasks_known
                                          : std::min<long>(static_cast<long>(c.nodes.size()), s.tasks_known);
    const bool plain = s.tasks_per_node == 0 && s.cpus_per_task <= 1 && r.count("ntasks-per-core") == 0;
    if (from(Version::v23_11) && plain && most > 0) most = std::max(most, nodes);
    if (from(Version::v26_05) && most == 0 && s.tasks_known > 0 && !r.nodes && nodes > 1) most = s.tasks;
    if (most > 0) nodes = std::min(nodes, most);
    return most == 0 || most == nodes ? std::to_string(nodes) : fmt::format("{}-{}", nodes, most);
  }

  void print_size() {
    set("NumNodes", node_text(), "1");
    set("NumCPUs", std::to_string(s.cpus), "1");
    set("NumTasks", std::to_string(s.tasks), "1");
    set("CPUs/Task", std::to_string(std::max(1L, s.cpus_per_task % 65536)), "1");
    if (s.cpus_per_node > 1 && s.cpus_per_task % 65536 > 0)
      x_fields["MinCPUsNode"] = std::to_string(s.cpus_per_node % 65536);
    const auto star = [](long number) {
      return number == 0 ? std::string("*") : std::to_string(std::max(number, 0L));
    };
    const auto shown = [&](std::string_view option) {
      return r.has(option) && r.count(option) % 65536 == 0 ? -1 : slurm::sent_count(r, option);
    };
    set("NtasksPerN:B:S:C",
        fmt::format("{}:0:{}:{}", s.tasks_per_node % 65536, star(shown("ntasks-per-socket")),
                    star(shown("ntasks-per-core"))),
        "0:0:*:*");
    set("ReqB:S:C:T", fmt::format("0:0:{}:{}", star(s.cores_per_socket), star(s.threads_per_core)),
        "0:0:*:*");
    if (s.sockets_per_node != 0) x_fields["Socks/Node"] = star(s.sockets_per_node);
  }

  /// scontrol has a job's memory in single precision.
  static std::string rounded_memory_text(std::uint64_t mb) {
    return memory_text(static_cast<std::uint64_t>(static_cast<float>(mb)));
  }

  void print_memory() {
    const auto option_value = [&](std::string_view option) -> const std::uint64_t* {
      const auto found = r.memory_mb.find(option);
      return found == r.memory_mb.end() ? nullptr : &found->second;
    };
    long nodes = s.min_nodes;
    if (x_version == Version::v20_11 && !s.nodes_given) nodes = 1;
    nodes = std::max(nodes, nodes_by_tasks());
    const auto cpus = static_cast<std::uint64_t>(s.cpus);
    std::uint64_t total = c.default_memory_per_cpu_mb * cpus;
    const auto whole = c.memory_mb * static_cast<std::uint64_t>(nodes);
    if (const auto* mb = option_value("mem")) {
      x_fields["MinMemoryNode"] = rounded_memory_text(*mb);
      total = *mb == 0 ? whole : *mb * static_cast<std::uint64_t>(nodes);
    } else if (const auto* per_cpu = option_value("mem-per-cpu")) {
      if (*per_cpu == 0)
        x_fields["MinMemoryNode"] = "0";
      else
        set("MinMemoryCPU", rounded_memory_text(*per_cpu), memory_text(c.default_memory_per_cpu_mb));
      total = *per_cpu == 0 ? whole : *per_cpu * cpus;
    } else if (const auto* per_gpu = option_value("mem-per-gpu")) {
      x_fields["MemPerTres"] = fmt::format("gres/gpu:{}", *per_gpu);
      if (from(Version::v21_08) && *per_gpu > 0) total = *per_gpu * s.gpus;
      if (from(Version::v24_11)) {
        x_fields["MinMemoryTRES"] = memory_text(*per_gpu);
        x_fields["MinCPUsNode"] = std::to_string(std::max(1L, s.cpus_per_node));
      }
    }
    std::vector<std::string> counted;
    if (s.cpus > 0) counted.push_back(fmt::format("cpu={}", s.cpus));
    if (total > 0) counted.push_back("mem=" + memory_text(total));
    if (nodes > 0) counted.push_back(fmt::format("node={}", nodes));
    set("ReqTRES", counted.empty() ? "(null)" : util::join(counted, ","), "cpu=1,mem=1000M,node=1");
  }

  slurm::JobDescriptorCounts x_sent; ///< as the controller gets them from sbatch
};

} // namespace

void print_size(const slurm::JobOptions& request, const slurm::JobSize& size,
                const slurm::ClusterFacts& cluster, slurm::Version version, Fields& fields) {
  SizePrinter(request, size, cluster, version, fields).run();
}

} // namespace hpcml::agree
