// SPDX-License-Identifier: MIT
// A request as the controller has it when it looks for nodes with GPUs.
#include <algorithm>

#include "core/slurm/gres_check.hpp"
#include "core/util/text.hpp"
#include "gpu_fit.hpp"

namespace hpcml::slurm {
namespace {

std::uint64_t memory_of(const JobOptions& r, std::string_view option) {
  const auto found = r.memory_mb.find(option);
  return found == r.memory_mb.end() ? 0 : found->second;
}

bool binds_gpus(const JobOptions& r) {
  const auto flags = util::to_lower(r.text("gres-flags"));
  const auto bound = flags.rfind("enforce-binding"), unbound = flags.rfind("disable-binding");
  return bound != std::string::npos && (unbound == std::string::npos || unbound < bound);
}

void set_tasks(const JobOptions& r, const JobSize& s, Version version, GpuJob& job) {
  JobDescriptorCounts sent = count_sent(r, version);
  (void)check_gres(r, version, sent);
  job.tasks_per_gpu = sent_count(r, "ntasks-per-gpu");
  job.tasks_per_node = s.tasks_per_node;
  job.tasks_per_socket = sent_count(r, "ntasks-per-socket");
  job.tasks_per_core = sent_count(r, "ntasks-per-core");
  job.threads_per_core = std::max(0L, s.threads_per_core);
  job.min_nodes = std::max(1L, s.min_nodes);
  job.tasks = sent.tasks.value_or(0);
  if (!sent.tasks && job.tasks_per_gpu > 0)
    job.tasks = job.min_nodes * job.tasks_per_gpu;
  else if (!sent.tasks && r.has("ntasks-per-node"))
    job.tasks = job.min_nodes * job.tasks_per_node;
}

/// From 26.05 a job has no more nodes than tasks, which does not make it want so many.
void set_nodes(const JobOptions& r, const JobSize& s, Version version, long nodes, long most_nodes,
               GpuJob& job) {
  const bool only_listed = r.has("nodelist") && !r.nodes;
  long most = only_listed ? 0 : s.max_nodes;
  if (most == 0 && job.tasks > 0 && r.has("spread-job")) most = std::min(job.tasks, nodes);
  const bool implied = most == 0 && job.tasks > 0 && version >= Version::v26_05;
  if (implied) most = job.tasks;
  job.exact_nodes = most > 0 && most == job.min_nodes;
  job.max_nodes = most > 0 ? std::min(most, most_nodes) : most_nodes;
  job.wanted_nodes = most == 0 || implied || r.has("use-min-nodes") ? job.min_nodes : job.max_nodes;
}

void set_cpus(const JobOptions& r, const JobSize& s, const ClusterFacts& c, GpuJob& job) {
  job.cpus = s.cpus;
  job.cpus_per_task = std::max(1L, s.cpus_per_task % 65536);
  job.cpus_per_node = std::max(s.cpus_per_node % 65536, job.cpus_per_task);
  job.overcommit = r.overcommit;
  if (job.overcommit && job.cpus == job.min_nodes)
    for (const long factor : {s.threads_per_core, s.cores_per_socket, s.sockets_per_node})
      job.cpus *= std::max(1L, factor);
  if (!r.has("mem") && !r.has("mem-per-gpu"))
    job.memory_per_cpu = r.has("mem-per-cpu") ? memory_of(r, "mem-per-cpu") : c.default_memory_per_cpu_mb;
}

void set_gpus(const JobOptions& r, const JobSize& s, GpuJob& job) {
  job.gpus = static_cast<long>(r.gpus("gpus"));
  job.gpus_per_node = static_cast<long>(r.gpus_per_node());
  job.gpus_per_socket = static_cast<long>(r.gpus("gpus-per-socket"));
  job.gpus_per_task = static_cast<long>(s.gpus_per_task);
  job.cpus_per_gpu = r.count("cpus-per-gpu");
  if (job.tasks_per_gpu > 0 && s.gpus > 0 && job.gpus_per_node == 0) job.gpus = static_cast<long>(s.gpus);
  job.memory_per_gpu = memory_of(r, "mem-per-gpu");
  job.binds = binds_gpus(r);
}

} // namespace

GpuJob gpu_job_of(const JobOptions& r, const JobSize& s, const ClusterFacts& c, Version version,
                  long most_nodes) {
  GpuJob job;
  set_tasks(r, s, version, job);
  set_nodes(r, s, version, static_cast<long>(c.nodes.size()), most_nodes, job);
  set_cpus(r, s, c, job);
  set_gpus(r, s, job);
  const auto partitions = partitions_of(r, c);
  const bool whole = !partitions.empty() && partitions.front() && partitions.front()->whole_nodes;
  job.whole_nodes = whole || r.sharing == NodeSharing::exclusive;
  const auto distribution = util::to_lower(r.text("distribution"));
  if (distribution.starts_with("plane="))
    job.plane_size = parse_count(distribution.substr(6, distribution.find(',') - 6), 1).value_or(0);
  return job;
}

} // namespace hpcml::slurm
