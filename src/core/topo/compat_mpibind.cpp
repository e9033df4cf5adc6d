// SPDX-License-Identifier: MIT
// LLNL's mpibind: memory first, then GPUs and CPUs of each NUMA node for the tasks that it gets.
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "core/topo/compat_rules.hpp"

namespace hpcml::topo {
namespace {

using model::IdSet;

/// A NUMA node as the tool sees it, after restriction.
struct Domain {
  IdSet cpus;
  std::vector<IdSet> cores, l3;
  std::vector<unsigned> gpus;
};

std::vector<std::size_t> spread(std::size_t workers, std::size_t places) {
  std::vector<std::size_t> counts(places, workers / places);
  for (std::size_t i = 0; i < workers % places; ++i) ++counts[i];
  return counts;
}

util::Result<std::vector<Domain>> read_domains(const Node& node, const ThirdPartyAffinityRequest& request) {
  IdSet keep = seen_cpus(node, request);
  std::optional<IdSet> numa;
  if (!request.restrict_ids.empty()) {
    TRY(const auto ids, IdSet::parse_list(request.restrict_ids));
    if (request.restrict_memory)
      numa = ids;
    else
      keep = keep & ids;
  }
  std::vector<Domain> domains;
  for (const auto& place : node.cpus.numa) {
    Domain domain;
    domain.cpus = place.cpus & keep;
    if (domain.cpus.empty() || (numa && !numa->contains(place.id))) continue;
    for (const IdSet& core : node.cpus.core_threads)
      if (core.intersects(domain.cpus)) domain.cores.push_back(core & domain.cpus);
    std::sort(domain.cores.begin(), domain.cores.end(),
              [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
    for (const auto& l3 : node.cpus.l3)
      if (l3.cpus.intersects(domain.cpus)) domain.l3.push_back(l3.cpus & domain.cpus);
    // A device that only a display driver knows is not a GPU for this tool.
    for (const Gpu& gpu : node.gpus)
      if (gpu.place.numa && *gpu.place.numa == place.id && !gpu.name.starts_with("renderD"))
        domain.gpus.push_back(gpu.place.index);
    domains.push_back(std::move(domain));
  }
  if (domains.empty())
    return util::Error{"mpibind would fail: no NUMA node of the node has a CPU that the ranks may use",
                       "use other CPUs with --allowed, or use --policy hpcml"};
  return domains;
}

/// Tasks per NUMA node by its share of GPUs or CPUs, the largest remainders rounded up.
std::vector<std::size_t> tasks_per_domain(const std::vector<Domain>& domains, std::size_t tasks,
                                          bool by_gpu) {
  std::vector<std::size_t> weights, counts, order(domains.size());
  for (const Domain& domain : domains) weights.push_back(by_gpu ? domain.gpus.size() : domain.cpus.size());
  const std::size_t total = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
  for (std::size_t weight : weights) counts.push_back(tasks * weight / total);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tasks * weights[a] % total > tasks * weights[b] % total;
  });
  const std::size_t assigned = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  for (std::size_t i = 0; i < tasks - assigned; ++i) ++counts[order[i]];
  return counts;
}

IdSet first_threads(const IdSet& object, std::size_t count) {
  IdSet threads;
  const auto ids = object.ids();
  for (std::size_t i = 0; i < ids.size() && i < count; ++i) threads.add(ids[i]);
  return threads;
}

/// Elements in runs over the tasks; more tasks than elements share them.
template <class T, class Add> void deal(const std::vector<T>& elements, std::size_t tasks, Add add) {
  if (elements.empty()) return;
  if (elements.size() >= tasks) {
    std::size_t at = 0;
    const auto counts = spread(elements.size(), tasks);
    for (std::size_t task = 0; task < tasks; ++task)
      for (std::size_t i = 0; i < counts[task]; ++i) add(task, elements[at++]);
  } else {
    std::size_t task = 0;
    const auto counts = spread(tasks, elements.size());
    for (std::size_t e = 0; e < elements.size(); ++e)
      for (std::size_t i = 0; i < counts[e]; ++i) add(task++, elements[e]);
  }
}

/// Objects to its tasks, some hardware threads of each; tasks that share an object share out its threads.
std::vector<IdSet> assign(const std::vector<IdSet>& objects, std::size_t per_object, std::size_t tasks) {
  std::vector<IdSet> cpus(tasks);
  std::vector<IdSet> parts;
  parts.reserve(objects.size());
  for (const IdSet& object : objects) parts.push_back(first_threads(object, per_object));
  if (parts.size() >= tasks) {
    deal(parts, tasks, [&](std::size_t task, const IdSet& part) { cpus[task] = cpus[task] | part; });
    return cpus;
  }
  std::size_t first = 0;
  const auto counts = spread(tasks, parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    deal(parts[p].ids(), counts[p], [&](std::size_t task, unsigned cpu) { cpus[first + task].add(cpu); });
    first += counts[p];
  }
  return cpus;
}

struct Matched {
  std::vector<IdSet> cpus;
  std::size_t threads;
};

/// The first level from the NUMA node down with an object for every worker, one hardware thread of each;
/// below the cores more threads per core.
Matched match_cpus(const Domain& domain, std::size_t tasks, const ThirdPartyAffinityRequest& request,
                   std::size_t hardware_smt) {
  std::size_t threads = request.threads;
  if (threads == 0) {
    std::size_t objects = request.smt < hardware_smt ? domain.cores.size() : domain.cpus.size();
    if (request.smt > 1 && request.smt < hardware_smt) objects *= request.smt;
    threads = objects >= tasks ? objects / tasks : 1;
  }
  const std::size_t workers = threads * tasks;
  if (request.smt > 0) return {assign(domain.cores, request.smt, tasks), threads};
  if (workers <= 1) return {assign({domain.cpus}, 1, tasks), threads};
  if (domain.l3.size() >= workers) return {assign(domain.l3, 1, tasks), threads};
  std::size_t per_core = 1;
  while (per_core < hardware_smt && domain.cores.size() * per_core < workers) ++per_core;
  return {assign(domain.cores, per_core, tasks), threads};
}

void place_greedily(ThirdPartyAffinityPlan& plan, const Node& node, const std::vector<Domain>& domains,
                    const ThirdPartyAffinityRequest& request) {
  const auto counts = spread(domains.size(), request.ranks);
  std::size_t at = 0;
  for (unsigned task = 0; task < request.ranks; ++task) {
    IdSet cpus;
    std::vector<unsigned> gpus;
    for (std::size_t i = 0; i < counts[task]; ++i, ++at) {
      cpus = cpus | domains[at].cpus;
      gpus.insert(gpus.end(), domains[at].gpus.begin(), domains[at].gpus.end());
    }
    std::sort(gpus.begin(), gpus.end());
    add_rank(plan, node, task, gpus, cpus, fmt::format("{} NUMA nodes, greedily", counts[task]));
    // As its recorded results have it, also where the number of threads was asked for.
    plan.threads.push_back(static_cast<unsigned>(cpus.size()));
  }
}

} // namespace

util::Result<ThirdPartyAffinityPlan> plan_like_mpibind(const Node& node,
                                                       const ThirdPartyAffinityRequest& request) {
  TRY(const auto domains, read_domains(node, request));
  std::size_t hardware_smt = domains.front().cores.front().size();
  if (request.smt > hardware_smt)
    return util::Error{
        fmt::format("mpibind would fail: --threads-per-core {} exceeds the hardware threads of a core ({})",
                    request.smt, hardware_smt),
        fmt::format("use --threads-per-core {}", hardware_smt)};
  ThirdPartyAffinityPlan plan;
  if (request.greedy && request.ranks < domains.size()) {
    place_greedily(plan, node, domains, request);
    return plan;
  }
  const bool any_gpu =
      std::any_of(domains.begin(), domains.end(), [](const Domain& d) { return !d.gpus.empty(); });
  const auto counts = tasks_per_domain(domains, request.ranks, request.gpu_optim && any_gpu);
  unsigned rank = 0;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    if (counts[d] == 0) continue;
    const Matched matched = match_cpus(domains[d], counts[d], request, hardware_smt);
    std::vector<std::vector<unsigned>> gpus(counts[d]);
    deal(domains[d].gpus, counts[d], [&](std::size_t task, unsigned gpu) { gpus[task].push_back(gpu); });
    for (std::size_t task = 0; task < counts[d]; ++task) {
      add_rank(plan, node, rank++, gpus[task], matched.cpus[task],
               fmt::format("{} tasks on this NUMA node", counts[d]));
      plan.threads.push_back(static_cast<unsigned>(matched.threads));
    }
  }
  return plan;
}

} // namespace hpcml::topo
