// SPDX-License-Identifier: MIT
#include "core/site_rules/resource_request.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/slurm/option_word.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

/// The type of GPU that the request names, in whichever option.
std::string named_type(const slurm::JobOptions& request) {
  for (const auto& [option, items] : request.gres)
    for (const auto& item : items)
      if (item.name == "gpu" && !item.type.empty()) return item.type;
  return {};
}

/// A generic resource, or a MIG instance, under a name of the site's own.
bool requests_otherwise(const slurm::JobOptions& request) {
  static constexpr std::array<std::string_view, 9> c_disks = {
      "nvme", "tmpfs", "tmp", "localtmp", "scratch", "localdir", "lustre", "craynetwork", "fs"};
  const auto is_disk = [](const slurm::GresItem& item) {
    return item.count == 0 || std::find(c_disks.begin(), c_disks.end(), item.name) != c_disks.end();
  };
  const auto gres = request.gres.find("gres");
  const bool requests_gres =
      request.has("gres") &&
      (gres == request.gres.end() || !std::all_of(gres->second.begin(), gres->second.end(), is_disk));
  return requests_gres || request.tres_per_task || request.has("licenses") ||
         request.has("gpus-per-socket") || request.has("ntasks-per-gpu");
}

unsigned clamped(std::uint64_t number) {
  return static_cast<unsigned>(std::min<std::uint64_t>(number, std::numeric_limits<unsigned>::max()));
}

void set_memory(ResourceRequest& demand, const slurm::JobOptions& request) {
  const auto of = [&](std::string_view option) {
    const auto found = request.memory_mb.find(option);
    return found == request.memory_mb.end() ? 0 : found->second;
  };
  demand.mem_per_cpu_mib = of("mem-per-cpu");
  demand.mem_per_gpu_mib = of("mem-per-gpu");
  if (request.memory_mb.find("mem") == request.memory_mb.end()) return;
  demand.memory_mib = of("mem");
  demand.mem = model::MemSize::of_mib(demand.memory_mib);
}

/// GPUs of one node and in total. Those of tasks are as many as a node's tasks have, where it is known how
/// many it has.
void set_gpus(ResourceRequest& demand, const slurm::JobOptions& request, const slurm::JobSize& size) {
  const auto per_node = std::max(request.gpus_per_node(), request.gpus("gpus-per-socket"));
  const auto tasks =
      static_cast<std::uint64_t>(std::clamp(size.tasks_per_node, 0L, std::max(0L, size.tasks)));
  const auto of_tasks = size.gpus_per_task * tasks;
  const auto on_average = (size.gpus + demand.nodes - 1) / demand.nodes;
  const bool shared = demand.nodes_exact || size.gpus_per_node == 0;
  demand.gpus_per_node = clamped(std::max({size.gpus_per_node, of_tasks, shared ? on_average : 0}));
  demand.gpus_counted = demand.gpus_per_node > 0;
  demand.gpus_spread = per_node == 0 && of_tasks == 0 && !demand.nodes_exact;
  demand.gpus_on_node = size.gpus_per_node;
  demand.gpus_in_all = size.gpus;
}

void set_time(ResourceRequest& demand, const slurm::JobOptions& request) {
  const auto time = request.times.find("time");
  if (time == request.times.end()) return;
  demand.unlimited = !time->second.minutes;
  if (time->second.minutes) demand.time = model::Walltime::of(std::chrono::minutes(*time->second.minutes));
}

/// What requests and scripts say in the same words: with whom the nodes are shared, where and when else than
/// the site has it by itself.
void set_options(ResourceRequest& demand, const slurm::JobOptions& request) {
  demand.elsewhere = request.has("clusters");
  demand.constraint = request.text("constraint");
  demand.features = request.features;
  demand.exclusive = request.sharing == slurm::NodeSharing::exclusive;
  demand.reserved = request.has("reservation");
  if (const auto least = request.times.find("time-min");
      least != request.times.end() && least->second.minutes)
    demand.least_time = model::Walltime::of(std::chrono::minutes(*least->second.minutes));
  demand.overcommit = request.overcommit;
  demand.gpus_by_other_name = requests_otherwise(request);
  for (const auto& [name, setting] : request.settings) demand.options.emplace(name, request.text(name));
}

/// The request's raw options. One that sbatch would not take is none.
slurm::JobOptions raw_request(const model::JobSpec& job) {
  std::vector<slurm::OptionSetting> settings;
  for (const auto& raw : job.sbatch)
    if (auto option = slurm::read_option(slurm::Program::sbatch, raw.value))
      settings.push_back({option->name.substr(2), std::move(option->value)});
  slurm::LocatedFindings ignored("", "");
  return slurm::make_request(settings, slurm::k_newest_version, ignored);
}

/// Returns the nodes that the tasks need at least, if only the number of tasks per node is set.
unsigned least_nodes(const slurm::JobSize& size) {
  long nodes = std::max(1L, size.min_nodes);
  if (!size.nodes_given && size.tasks_per_node > 0)
    nodes = std::max(nodes, (size.tasks + size.tasks_per_node - 1) / size.tasks_per_node);
  return static_cast<unsigned>(nodes);
}

} // namespace

std::string ResourceRequest::text(std::string_view option) const {
  const auto found = options.find(option);
  return found == options.end() ? std::string() : found->second;
}

std::uint64_t ResourceRequest::memory_of_node() const {
  return std::max({memory_mib, mem_per_cpu_mib * static_cast<std::uint64_t>(std::max(1L, cpus_per_node)),
                   mem_per_gpu_mib * gpus_per_node});
}

std::vector<std::string> feature_names(const std::string& expression) {
  const auto is_part = [](char c) { return util::is_name_char(c) || c == '.' || c == ':' || c == '-'; };
  std::vector<std::string> names;
  for (std::size_t at = 0; at < expression.size();) {
    const auto begin =
        std::find_if(expression.begin() + static_cast<std::ptrdiff_t>(at), expression.end(), is_part);
    const auto end = std::find_if_not(begin, expression.end(), is_part);
    if (begin != end) names.emplace_back(begin, end);
    at = static_cast<std::size_t>(end - expression.begin());
  }
  return names;
}

ResourceRequest demand_of(const model::JobSpec& job) {
  ResourceRequest demand;
  demand.stage = RequestStage::request;
  const auto text = [](const model::Known<std::string>& known) {
    return known ? known->value : std::string();
  };
  const auto raw = raw_request(job);
  set_options(demand, raw);
  set_memory(demand, raw);
  if (job.partition) demand.partitions = {job.partition->value};
  demand.qos = text(job.qos);
  demand.gpu_type = text(job.gpu_type);
  demand.nodes = job.nodes ? job.nodes->value : 1;
  demand.nodes_given = demand.nodes_exact = true;
  demand.gpus_counted = job.gpus_per_node.has_value();
  demand.gpus_per_node = job.gpus_per_node ? job.gpus_per_node->value : 0;
  demand.gpus_on_node = demand.gpus_per_node;
  demand.gpus_in_all = std::uint64_t{demand.nodes} * demand.gpus_per_node;
  demand.cpu_unit = RequestCpuUnit::cores;
  demand.cpus_requested = job.cpus_per_task.has_value();
  if (job.mem) {
    demand.mem = job.mem->value;
    demand.memory_mib = job.mem->value.mib();
  }
  if (job.time) demand.time = job.time->value;
  demand.container = job.container.has_value();
  if (job.container) demand.image = job.container->value;
  return demand;
}

ResourceRequest demand_of(const slurm::JobOptions& request, const slurm::JobSize& size) {
  ResourceRequest demand;
  set_options(demand, request);
  for (const auto& name : util::split(request.text("partition"), ','))
    if (!name.empty()) demand.partitions.push_back(name);
  demand.qos = request.text("qos");
  demand.gpu_type = named_type(request);
  demand.nodes = least_nodes(size);
  demand.nodes_given = size.nodes_given;
  demand.nodes_exact = size.has_exact_nodes();
  set_gpus(demand, request, size);
  demand.cpus_per_node = size.cpus_per_node;
  demand.cpus_of_tasks = size.cpus_per_node;
  if (request.has("ntasks") && size.nodes_given && size.min_nodes > 0)
    demand.cpus_of_tasks = std::max(demand.cpus_of_tasks,
                                    (size.tasks + size.min_nodes - 1) / size.min_nodes * size.cpus_per_task);
  demand.cpus_requested = request.has("cpus-per-task");
  demand.threads_per_core = size.threads_per_core;
  set_memory(demand, request);
  set_time(demand, request);
  demand.array_tasks = slurm::count_array_tasks(request.text("array"));
  return demand;
}

} // namespace hpcml::site_rules
