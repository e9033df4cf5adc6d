// SPDX-License-Identifier: MIT
// The old script's directives as a request: what people mean stays, what belongs to the old site or to its
// nodes goes.
#include <algorithm>
#include <array>

#include "port/porting.hpp"
#include "util/text.hpp"

namespace hpcml::port {
namespace {

enum class Fate {
  kept,    ///< read into the request
  passed,  ///< given on as it is
  planned, ///< the plan decides it for the new nodes
  dropped, ///< a name that only the old site knows
};

struct Row {
  std::string_view option;
  Fate fate;
};

constexpr std::array<Row, 60> k_rows = {{
    {"nodes", Fate::kept},
    {"time", Fate::kept},
    {"job-name", Fate::kept},
    {"output", Fate::kept},
    {"array", Fate::kept},
    {"dependency", Fate::kept},
    {"signal", Fate::kept},
    {"requeue", Fate::kept},
    {"no-requeue", Fate::kept},
    {"partition", Fate::kept},
    {"error", Fate::passed},
    {"input", Fate::passed},
    {"open-mode", Fate::passed},
    {"mail-type", Fate::passed},
    {"mail-user", Fate::passed},
    {"comment", Fate::passed},
    {"begin", Fate::passed},
    {"deadline", Fate::passed},
    {"nice", Fate::passed},
    {"hold", Fate::passed},
    {"time-min", Fate::passed},
    {"wait", Fate::passed},
    {"kill-on-invalid-dep", Fate::passed},
    {"export", Fate::passed},
    {"propagate", Fate::passed},
    {"profile", Fate::passed},
    {"wait-all-nodes", Fate::passed},
    {"ntasks", Fate::planned},
    {"ntasks-per-node", Fate::planned},
    {"ntasks-per-gpu", Fate::planned},
    {"ntasks-per-core", Fate::planned},
    {"ntasks-per-socket", Fate::planned},
    {"cpus-per-task", Fate::planned},
    {"cpus-per-gpu", Fate::planned},
    {"mincpus", Fate::planned},
    {"mem", Fate::planned},
    {"mem-per-cpu", Fate::planned},
    {"mem-per-gpu", Fate::planned},
    {"gres", Fate::planned},
    {"gpus", Fate::planned},
    {"gpus-per-node", Fate::planned},
    {"gpus-per-task", Fate::planned},
    {"gpus-per-socket", Fate::planned},
    {"gpu-bind", Fate::planned},
    {"exclusive", Fate::planned},
    {"oversubscribe", Fate::planned},
    {"threads-per-core", Fate::planned},
    {"hint", Fate::planned},
    {"distribution", Fate::planned},
    {"cores-per-socket", Fate::planned},
    {"sockets-per-node", Fate::planned},
    {"extra-node-info", Fate::planned},
    {"overcommit", Fate::planned},
    {"tres-per-task", Fate::planned},
    {"mem-bind", Fate::planned},
    {"core-spec", Fate::planned},
    {"gres-flags", Fate::planned},
    {"switches", Fate::planned},
    {"contiguous", Fate::planned},
    {"use-min-nodes", Fate::planned},
}};

/// Everything else names something of the old site: an account, a QoS, a feature, a reservation, an option of
/// a plugin.
Fate fate_of(std::string_view option) {
  const auto found =
      std::find_if(k_rows.begin(), k_rows.end(), [&](const Row& row) { return row.option == option; });
  return found == k_rows.end() ? Fate::dropped : found->fate;
}

std::string word_of(const slurm::Setting& setting) {
  return "--" + setting.option + (setting.value ? "=" + *setting.value : "");
}

class RequestPorter {
public:
  RequestPorter(Porting& porting, const slurm::Request& request, const slurm::JobSize& size)
      : x_porting(porting), x_request(request), x_size(size), x_job(porting.result.job) {}

  void port(const std::vector<FoundLaunch>& programs) {
    for (const auto& [option, setting] : x_request.given) port_option(setting);
    port_size(programs);
  }

private:
  model::Origin origin(const std::string& option) const { return x_porting.origin("--" + option); }
  void keep(model::Known<std::string>& target, const slurm::Setting& setting) {
    target = model::Sourced<std::string>{setting.value.value_or(""), origin(setting.option)};
  }

  void port_option(const slurm::Setting& setting) {
    switch (fate_of(setting.option)) {
    case Fate::kept: return port_kept(setting);
    case Fate::passed: x_job.sbatch.push_back({word_of(setting), origin(setting.option)}); return;
    case Fate::planned:
      x_porting.note(setting.place, "port/planned",
                     word_of(setting) + " is planned anew for " + name() + "'s nodes");
      return;
    case Fate::dropped: break;
    }
    const bool same_flag =
        setting.option == "account" || setting.option == "qos" || setting.option == "constraint";
    x_porting.note(setting.place, "port/left-out",
                   word_of(setting) +
                       " is left out: it names something of the site that the script was written for",
                   setting.option == "account" || setting.option == "qos"
                       ? "--" + setting.option + " gives " + name() + "'s"
                       : "--sbatch=" + (same_flag ? std::string("--constraint=…") : word_of(setting)) +
                             " takes it over, if " + name() + " has the same");
  }

  void port_kept(const slurm::Setting& setting) {
    const auto& option = setting.option;
    if (option == "partition") return port_partition(setting);
    if (option == "job-name") return keep(x_job.job_name, setting);
    if (option == "output") return keep(x_job.output, setting);
    if (option == "array") return keep(x_job.array, setting);
    if (option == "dependency") return keep(x_job.dependency, setting);
    if (option == "signal") return keep(x_job.signal, setting);
    if (option == "requeue" || option == "no-requeue")
      x_job.requeue = model::Sourced<bool>{x_request.requeue, origin(option)};
    if (option == "nodes")
      x_job.nodes =
          model::Sourced<unsigned>{static_cast<unsigned>(std::max(1L, x_size.min_nodes)), origin(option)};
    if (option == "time") {
      const auto time = model::Walltime::parse(setting.value.value_or(""));
      if (time)
        x_job.time = model::Sourced<model::Walltime>{*time, origin(option)};
      else
        x_porting.note(setting.place, "port/left-out",
                       word_of(setting) + " is left out: " + time.error().what, "--time gives one");
    }
  }

  void port_partition(const slurm::Setting& setting) {
    const auto* partition = x_porting.to.find_partition(setting.value.value_or(""));
    if (partition && partition->nameable)
      x_job.partition = model::Sourced<std::string>{partition->name, origin("partition")};
    else
      x_porting.note(setting.place, "port/left-out",
                     word_of(setting) + " is left out: " + name() + " has no partition of that name",
                     "--partition chooses one");
  }

  /// How many GPUs on a node, and how many ranks, if they are not one per GPU.
  void port_size(const std::vector<FoundLaunch>& programs) {
    const auto nodes = static_cast<unsigned>(std::max(1L, x_size.min_nodes));
    std::optional<unsigned> agent;
    for (const auto& program : programs)
      if (program.agent_processes) agent = program.agent_processes;
    const auto asked = x_size.gpus_per_node > 0 ? x_size.gpus_per_node : x_size.gpus / nodes;
    auto gpus = static_cast<unsigned>(asked);
    if (gpus == 0 && agent) gpus = *agent;
    if (gpus == 0 && x_porting.text.find("CUDA") == std::string_view::npos &&
        x_porting.text.find("NCCL") == std::string_view::npos &&
        x_porting.text.find("--nv") == std::string_view::npos) {
      port_cpu_job();
      return;
    }
    if (gpus == 0) {
      x_porting.note({}, "port/gpus",
                     "the script asks for no GPUs but speaks of them: " + name() + "'s usual number is taken",
                     "--gpus-per-node gives another");
      return;
    }
    const auto ranks = agent ? *agent : tasks_per_node();
    spread(nodes, gpus, ranks);
  }

  unsigned tasks_per_node() const {
    if (x_size.tasks_per_node > 0) return static_cast<unsigned>(x_size.tasks_per_node);
    if (x_size.tasks_known > 0)
      return static_cast<unsigned>(x_size.tasks_known / std::max(1L, x_size.min_nodes));
    return 0;
  }

  /// The same number of GPUs in all, on nodes as the new site has them.
  void spread(unsigned nodes, unsigned gpus, unsigned ranks) {
    const unsigned most = gpus_of_a_node();
    if (most > 0 && gpus > most) {
      const unsigned total = nodes * gpus;
      const unsigned more = (total + most - 1) / most;
      const auto each = (total + more - 1) / more;
      x_porting.note({}, "port/nodes",
                     std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") + " with " +
                         std::to_string(gpus) + " GPUs become " + std::to_string(more) + " with " +
                         std::to_string(each) + ", as many as " + name() + " has on one",
                     "--nodes and --gpus-per-node say otherwise");
      if (ranks == gpus) ranks = each;
      nodes = more;
      gpus = each;
      x_job.nodes = model::Sourced<unsigned>{nodes, x_porting.origin("the number of GPUs")};
    }
    x_job.gpus_per_node = model::Sourced<unsigned>{gpus, x_porting.origin("the number of GPUs")};
    if (ranks > 0 && ranks != gpus && gpus % ranks == 0)
      x_job.gpus_per_task = model::Sourced<unsigned>{gpus / ranks, x_porting.origin("the number of tasks")};
    else if (ranks > 0 && ranks != gpus)
      x_job.tasks_per_node = model::Sourced<unsigned>{ranks, x_porting.origin("the number of tasks")};
  }

  void port_cpu_job() {
    x_job.gpus_per_node = model::Sourced<unsigned>{0, x_porting.origin("no request for GPUs")};
    if (const auto ranks = tasks_per_node(); ranks > 1)
      x_job.tasks_per_node = model::Sourced<unsigned>{ranks, x_porting.origin("the number of tasks")};
    if (x_request.has("cpus-per-task"))
      x_job.cpus_per_task =
          model::Sourced<unsigned>{static_cast<unsigned>(x_size.cpus_per_task), origin("cpus-per-task")};
    if (x_request.has("mem"))
      if (const auto mem = model::MemSize::parse(x_request.text("mem")); mem && x_request.text("mem") != "0")
        x_job.mem = model::Sourced<model::MemSize>{*mem, origin("mem")};
  }

  /// Where the job will go, as far as that is known.
  const model::Partition* partition() const {
    const auto& site = x_porting.to;
    if (!x_porting.chosen.partition.empty()) return site.find_partition(x_porting.chosen.partition);
    if (x_job.partition) return site.find_partition(x_job.partition->value);
    const auto usual = std::find_if(site.partitions.begin(), site.partitions.end(),
                                    [](const auto& one) { return one.is_default && !one.cpu_only; });
    return usual == site.partitions.end() ? nullptr : &*usual;
  }

  /// The most that a node has which the request can land on; 0: unknown.
  unsigned gpus_of_a_node() const {
    unsigned most = 0;
    const auto* place = partition();
    for (const auto& node : x_porting.to.node_types) {
      const bool reachable = !place || std::find(place->node_types.begin(), place->node_types.end(),
                                                 node.id) != place->node_types.end();
      if (reachable && node.gpu) most = std::max(most, node.gpu->per_node);
    }
    return most;
  }

  const std::string& name() const { return x_porting.to.id; }

  Porting& x_porting;
  const slurm::Request& x_request;
  const slurm::JobSize& x_size;
  model::JobSpec& x_job;
};

} // namespace

void port_request(Porting& porting, const slurm::Request& request, const slurm::JobSize& size,
                  const std::vector<FoundLaunch>& programs) {
  RequestPorter(porting, request, size).port(programs);
}

} // namespace hpcml::port
