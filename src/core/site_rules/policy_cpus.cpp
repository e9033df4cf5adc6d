// SPDX-License-Identifier: MIT
// CPUs and memory of a node, and the shares of them that go with GPUs.
#include "core/site_rules/gpu_names.hpp"
#include "core/site_rules/limits.hpp"
#include "core/site_rules/policy_evaluation_context.hpp"

namespace hpcml::site_rules {
namespace {

/// What a node offers: CPUs at the very most, and those that it surely has for jobs.
struct Room {
  long most = 0;   ///< more is on no such node
  long known = 0;  ///< as far as the profile shows: there may be more hardware threads
  long cores = 0;  ///< physical ones
  long usable = 0; ///< physical ones for jobs
  const model::NodeType* node = nullptr;
};

/// Of the largest of the nodes; nothing where one is not known.
std::optional<Room> largest(const PolicyEvaluationContext& job) {
  Room room;
  const bool one_thread = job.demand.threads_per_core == 1 || job.demand.cpu_unit == RequestCpuUnit::cores;
  for (const auto* node : job.nodes()) {
    const long cores = node->cpu.cores;
    if (cores == 0) return std::nullopt;
    const long threads = one_thread ? 1 : node->cpu.threads_per_core;
    const long possible = one_thread ? threads : model::possible_threads_per_core(*node);
    if (cores * possible > room.most)
      room = {cores * possible, cores * threads, cores, static_cast<long>(usable_cores(*node)), node};
  }
  return room.node ? std::optional(room) : std::nullopt;
}

/// Whether a violation states that the job asks for more than a node has.
bool exceeds_node(PolicyEvaluationContext& job) {
  // Of a number of nodes that is exact, one has at least its share of the tasks.
  const auto& demand = job.demand;
  const long requested =
      demand.nodes_exact ? std::max(demand.cpus_per_node, demand.cpus_of_tasks) : demand.cpus_per_node;
  const auto room = largest(job);
  if (!room || demand.overcommit) return false;
  const auto add = [&](SiteRule rule, Confidence certainty, long limit) {
    job.add(rule, certainty, static_cast<unsigned long long>(std::max(0L, requested)),
            static_cast<unsigned long long>(limit), room->node->origin)
        .node = room->node;
    return true;
  };
  if (requested > room->most) return add(SiteRule::cpus_over, job.certainty(), room->most);
  const bool cores = demand.cpu_unit == RequestCpuUnit::cores;
  // Up to the number of cores a script most likely counts cores.
  if (requested <= room->known && room->usable < room->cores && requested > room->usable &&
      (cores || requested <= room->cores || requested > room->usable * (room->known / room->cores)))
    return add(SiteRule::cpus_reserved, Confidence::likely, room->usable);
  return false;
}

/// Whether a number of CPUs that is asked for with GPUs breaks the site's share, is much, or is little.
void evaluate_cpu_share(PolicyEvaluationContext& job, const model::NodeType& node) {
  const auto& demand = job.demand;
  const auto& placement = job.placement;
  if (!node.cpus_per_gpu || demand.cpus_per_node == 0) return;
  const bool cores = demand.cpu_unit == RequestCpuUnit::cores;
  const unsigned gpus = demand.gpus_per_node;
  const unsigned share = *node.cpus_per_gpu * gpus;
  const auto requested = static_cast<unsigned>(demand.cpus_of_tasks);
  // More threads than the profile shows can be asked for: it may only not know of them.
  const long per_core = demand.threads_per_core > 0 ? demand.threads_per_core : node.cpu.threads_per_core;
  const auto most = cores ? share : share * static_cast<unsigned>(std::max(1L, per_core));
  // Who has the nodes alone takes nothing from other GPUs.
  const bool takes_others = !placement.owns_nodes() && breaks_share(node, requested, share) &&
                            (requested > most || requested < share);
  SiteRule rule = SiteRule::cpu_share;
  auto certainty = Confidence::likely; // how many threads a CPU of Slurm is decides the site
  if (!takes_others) {
    certainty = Confidence::advisory;
    if (requested > most && !placement.owns_nodes() && (cores || gpus < node.gpu->per_node))
      rule = SiteRule::cpus_many;
    else if (requested * (placement.owns_nodes() ? 4 : 2) <= share && demand.cpus_requested)
      rule = SiteRule::cpus_few;
    else
      return;
  }
  job.add(rule, certainty, requested, share, node.origin).node = &node;
}

void evaluate_memory_share(PolicyEvaluationContext& job, const model::NodeType& node) {
  const auto& demand = job.demand;
  if (!node.mem_per_gpu || !demand.mem || demand.mem->mib() == 0 || job.placement.owns_nodes() ||
      !sbatch_option_rule(job.site, "mem", job.placement.facts).takes())
    return;
  const auto share = model::MemSize::of_mib(node.mem_per_gpu->mib() * demand.gpus_per_node);
  const auto& requested = *demand.mem;
  const bool over = requested.mib() * 100 > share.mib() * 105; // sites document shares as round numbers
  const bool breaks_limit = breaks_share(node, requested, share);
  if (!breaks_limit && (!over || demand.gpus_per_node >= node.gpu->per_node)) return;
  const bool likely = breaks_limit && (over || requested < share);
  job.add(breaks_limit ? SiteRule::memory_share : SiteRule::memory_many,
          likely ? Confidence::likely : Confidence::advisory, requested.mib(), share.mib(), node.origin)
      .node = &node;
}

} // namespace

void evaluate_cpus(PolicyEvaluationContext& job) {
  const auto& demand = job.demand;
  const bool too_many = exceeds_node(job);
  const auto nodes = job.nodes();
  if (demand.gpus_per_node == 0 || nodes.size() != 1 || !nodes.front()->gpu ||
      demand.gpus_per_node > nodes.front()->gpu->per_node)
    return;
  const bool slice = find_slice(*nodes.front()->gpu, demand.gpu_type) != nullptr;
  if (slice) return;
  if (!(too_many && job.is_request())) evaluate_cpu_share(job, *nodes.front());
  evaluate_memory_share(job, *nodes.front());
}

void evaluate_memory(PolicyEvaluationContext& job) {
  const auto& demand = job.demand;
  const auto requested = demand.memory_of_node();
  const model::NodeType* most = nullptr;
  const auto nodes = job.nodes();
  for (const auto* node : nodes) {
    if (!node->memory) return;
    if (!most || node->memory->value > most->memory->value) most = node;
  }
  if (!most || requested <= most->memory->value.mib() ||
      !sbatch_option_rule(job.site, "mem", job.placement.facts).takes())
    return;
  // What a profile says of memory is often rounded, and there may be CPU nodes with more: near it the site
  // may still take the job.
  const bool far = most->gpu && requested * 4 > most->memory->value.mib() * 5;
  job.add(SiteRule::memory_over, far ? job.certainty() : Confidence::likely, requested,
          most->memory->value.mib(), most->memory->origin)
      .node = most;
}

} // namespace hpcml::site_rules
