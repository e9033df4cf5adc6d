// SPDX-License-Identifier: MIT
// The affinity planner: cores and domains first, then entries (one per rank and GPU), then slices, then
// sentences.
#include "topo/affinity.hpp"

#include <algorithm>
#include <optional>

#include "topo/core_pool.hpp"

namespace hpcml::topo {
namespace {

using model::GpuPlace;

/// A rank's claim on cores near one of its GPUs (or anywhere, without a GPU).
struct Entry {
  unsigned rank = 0;
  std::optional<std::size_t> gpu; // position in the list of GPUs
  std::size_t home = 0;           // domain it belongs to
  std::size_t domain = 0;         // domain it takes its cores from
  std::vector<Core> cores;
};

std::vector<Entry> make_entries(std::size_t gpus, const AffinityRequest& request,
                                std::vector<std::string>& warnings) {
  std::vector<Entry> entries;
  const std::size_t ranks = request.ranks;
  const std::size_t share =
      request.gpus_per_rank ? request.gpus_per_rank : std::max<std::size_t>(1, gpus / ranks);
  for (unsigned rank = 0; rank < ranks; ++rank) {
    if (gpus == 0) {
      entries.push_back({rank, std::nullopt, 0, 0, {}});
    } else if (ranks * share <= gpus) {
      for (std::size_t i = 0; i < share; ++i) entries.push_back({rank, rank * share + i, 0, 0, {}});
    } else {
      entries.push_back({rank, rank * gpus / ranks, 0, 0, {}});
    }
  }
  if (gpus > 0 && ranks * share < gpus)
    warnings.push_back(std::to_string(gpus - ranks * share) + " of " + std::to_string(gpus) +
                       " GPUs have no rank");
  return entries;
}

/// The level at which every GPU in use is attached: their L3s, else their NUMA nodes, else the whole node.
std::vector<Pool> choose_pools(const model::CpuShape& shape, const std::vector<GpuPlace>& gpus,
                               const std::vector<Core>& cores, std::vector<Entry>& entries) {
  const auto attach = [&](const std::vector<model::CpuDomain>& domains,
                          std::optional<unsigned> GpuPlace::*where) {
    for (Entry& entry : entries) {
      if (!entry.gpu || !(gpus[*entry.gpu].*where)) return false;
      const unsigned id = *(gpus[*entry.gpu].*where);
      const auto found =
          std::find_if(domains.begin(), domains.end(), [&](const auto& d) { return d.id == id; });
      if (found == domains.end()) return false;
      entry.home = static_cast<std::size_t>(found - domains.begin());
    }
    return !entries.empty();
  };
  if (attach(shape.l3, &GpuPlace::l3)) return make_pools(PoolLevel::l3, shape.l3, shape, cores);
  if (attach(shape.numa, &GpuPlace::numa)) return make_pools(PoolLevel::numa, shape.numa, shape, cores);
  for (Entry& entry : entries) entry.home = 0;
  return {make_node_pool(shape, cores)};
}

/// Puts every entry into its own domain while that has a core for it, then into the nearest with a core to
/// spare, and shares cores only when the node has fewer of them than there are entries.
void assign_pools(std::vector<Entry>& entries, const std::vector<Pool>& pools) {
  std::vector<std::size_t> taken(pools.size(), 0);
  std::vector<Entry*> homeless;
  for (Entry& entry : entries) {
    if (taken[entry.home] < pools[entry.home].cores.size()) {
      entry.domain = entry.home;
      ++taken[entry.home];
    } else {
      homeless.push_back(&entry);
    }
  }
  for (Entry* entry : homeless) {
    const auto spare =
        nearest_pool(pools, entry->home, [&](std::size_t p) { return pools[p].cores.size() > taken[p]; });
    const auto any = nearest_pool(pools, entry->home, [&](std::size_t p) { return !pools[p].cores.empty(); });
    entry->domain = spare ? *spare : *any;
    ++taken[entry->domain];
  }
}

void slice_pools(std::vector<Entry>& entries, const std::vector<Pool>& pools) {
  for (std::size_t p = 0; p < pools.size(); ++p) {
    std::vector<Entry*> sharing;
    for (Entry& entry : entries)
      if (entry.domain == p) sharing.push_back(&entry);
    for (std::size_t i = 0; i < sharing.size(); ++i)
      sharing[i]->cores = slice_of(pools[p].cores, i, sharing.size());
  }
}

/// "GPUs 0-1": the GPUs' own numbers, not their places in the list.
std::string gpu_text(const std::vector<unsigned>& gpus) {
  return (gpus.size() == 1 ? "GPU " : "GPUs ") + model::IdSet::of(gpus).to_list();
}

std::string explain(const model::PlannedRankBinding& binding, const std::vector<const Entry*>& mine,
                    const std::vector<Pool>& pools, const model::IdSet& first_threads) {
  std::string why;
  const Pool& home = pools[mine.front()->home];
  if (!binding.gpus.empty()) {
    why = gpu_text(binding.gpus);
    if (home.level == PoolLevel::node) {
      why += ": locality unknown; ";
    } else {
      std::vector<std::string> names;
      for (const Entry* entry : mine)
        if (const auto& name = pools[entry->home].name;
            std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
      why += binding.gpus.size() == 1 ? " is under " : " are under ";
      for (std::size_t i = 0; i < names.size(); ++i) why += (i ? " and " : "") + names[i];
      why += "; ";
    }
  }
  why += (first_threads.size() == 1 ? "core " : "cores ") + first_threads.to_list();
  model::IdSet reserved;
  for (const Entry* entry : mine) reserved = reserved | pools[entry->domain].reserved;
  if (!reserved.empty())
    why += std::string(reserved.size() == 1 ? ", core " : ", cores ") + reserved.to_list() +
           (reserved.size() == 1 ? " is" : " are") + " reserved";
  if (mine.front()->domain != mine.front()->home) why += "; " + home.name + " has no free core";
  return why;
}

/// The first cores of each of the rank's slices, as evenly as they give them, `wanted` in all (0: every
/// core).
std::vector<Core> cut_slices(const std::vector<const Entry*>& mine, std::size_t wanted) {
  std::vector<std::size_t> counts(mine.size(), 0);
  std::size_t total = 0;
  for (bool grew = true; grew && (wanted == 0 || total < wanted);) {
    grew = false;
    for (std::size_t i = 0; i < mine.size() && (wanted == 0 || total < wanted); ++i) {
      if (counts[i] >= mine[i]->cores.size()) continue;
      ++counts[i];
      ++total;
      grew = true;
    }
  }
  std::vector<Core> cores;
  for (std::size_t i = 0; i < mine.size(); ++i)
    cores.insert(cores.end(), mine[i]->cores.begin(),
                 mine[i]->cores.begin() + static_cast<std::ptrdiff_t>(counts[i]));
  return cores;
}

void warn(AffinityPlan& plan, const model::PlannedRankBinding& binding, const std::vector<const Entry*>& mine,
          const std::vector<Pool>& pools, std::size_t got, unsigned wanted) {
  for (const Entry* entry : mine)
    if (entry->domain != entry->home)
      plan.warnings.push_back("rank " + std::to_string(binding.local_rank) +
                              ": GPU not local: " + pools[entry->home].name +
                              " has no free core, taken from " + pools[entry->domain].name);
  if (wanted > got)
    plan.warnings.push_back("rank " + std::to_string(binding.local_rank) + " gets " + std::to_string(got) +
                            " of the " + std::to_string(wanted) + " cores asked for");
}

} // namespace

AffinityPlan plan_affinity(const model::CpuShape& shape, const std::vector<GpuPlace>& gpus,
                           const AffinityRequest& request) {
  AffinityPlan plan;
  const std::vector<Core> cores =
      usable_cores(shape, request.allowed, std::max(1u, request.threads_per_core));
  if (cores.empty() || request.ranks == 0) return plan;
  std::vector<Entry> entries = make_entries(gpus.size(), request, plan.warnings);
  const std::vector<Pool> pools = choose_pools(shape, gpus, cores, entries);
  assign_pools(entries, pools);
  slice_pools(entries, pools);

  for (unsigned rank = 0; rank < request.ranks; ++rank) {
    model::PlannedRankBinding binding;
    binding.local_rank = rank;
    std::vector<const Entry*> mine;
    for (const Entry& entry : entries)
      if (entry.rank == rank) mine.push_back(&entry);
    model::IdSet first_threads;
    const std::vector<Core> taken = cut_slices(mine, request.cpus_per_rank);
    for (const Core& core : taken) {
      binding.cpus = binding.cpus | core.threads;
      first_threads.add(core.threads.first());
    }
    for (const Entry* entry : mine)
      if (entry->gpu) binding.gpus.push_back(gpus[*entry->gpu].index);
    if (mine.front()->gpu) binding.nic = gpus[*mine.front()->gpu].nic;
    binding.why = explain(binding, mine, pools, first_threads);
    warn(plan, binding, mine, pools, first_threads.size(), request.cpus_per_rank);
    plan.ranks.push_back(std::move(binding));
  }
  if (cores.size() < entries.size())
    plan.warnings.push_back("only " + std::to_string(cores.size()) + " usable cores for " +
                            std::to_string(request.ranks) + " ranks: some share a core");
  return plan;
}

} // namespace hpcml::topo
