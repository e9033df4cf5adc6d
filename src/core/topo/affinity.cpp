// SPDX-License-Identifier: MIT
// The affinity planner: cores and domains first, then claims (one per rank and GPU), then slices, then
// sentences.
#include "core/topo/affinity.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "core/topo/core_allocation.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {

namespace {

// Why a rank got what it got, in sentences.

/// "GPUs 0-1": the GPUs' own numbers, not their places in the list.
std::string gpu_text(const std::vector<unsigned>& gpus) {
  return (gpus.size() == 1 ? "GPU " : "GPUs ") + model::IdSet::of(gpus).to_list();
}

model::IdSet first_threads_of(const std::vector<UsableCore>& cores) {
  model::IdSet first_threads;
  for (const UsableCore& core : cores) first_threads.add(core.threads.first());
  return first_threads;
}

std::string cores_text(const model::IdSet& first_threads) {
  return (first_threads.size() == 1 ? "core " : "cores ") + first_threads.to_list();
}

std::string homes_text(const std::vector<const CoreRequest*>& mine, const std::vector<CorePool>& pools) {
  std::vector<std::string> names;
  for (const CoreRequest* claim : mine) util::add_once(names, pools[claim->home].name);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return text;
}

/// "GPU 0 is under L3 6 of NUMA 3; cores 49-55, core 48 is reserved". `mine` are the rank's claims.
std::string reason_text(const model::PlannedRankBinding& binding, const std::vector<const CoreRequest*>& mine,
                        const std::vector<CorePool>& pools, const CoreAllocation& share) {
  std::string why;
  const CorePool& home = pools[mine.front()->home];
  if (!binding.gpus.empty()) {
    why = gpu_text(binding.gpus);
    if (home.level == PoolLevel::node)
      why += ": locality unknown; ";
    else
      why += (binding.gpus.size() == 1 ? " is under " : " are under ") + homes_text(mine, pools) + "; ";
  }
  why += cores_text(first_threads_of(share.cores));
  model::IdSet reserved;
  for (const CoreRequest* claim : mine) reserved = reserved | pools[claim->pool].reserved;
  if (!reserved.empty())
    why += fmt::format(", {}{} reserved", cores_text(reserved), reserved.size() == 1 ? " is" : " are");
  if (mine.front()->pool != mine.front()->home) why += fmt::format("; {} has no free core", home.name);
  for (const BorrowedCores& extra : share.extras)
    why += fmt::format("; {} of {}{}", cores_text(first_threads_of(extra.cores)), pools[extra.pool].name,
                       extra.spilled ? ", which has no GPU" : ", because its own domain has no more");
  return why;
}

/// What a user should know about the rank: cores far from its GPU, fewer cores than asked for.
std::vector<std::string> share_warnings(unsigned rank, const std::vector<const CoreRequest*>& mine,
                                        const std::vector<CorePool>& pools, const CoreAllocation& share,
                                        unsigned wanted) {
  std::vector<std::string> warnings;
  const std::string who = fmt::format("rank {}", rank);
  for (const CoreRequest* claim : mine)
    if (claim->bare)
      warnings.push_back(
          fmt::format("{}: no dedicated core for GPU {}: {} has no free core; request more CPUs per task",
                      who, claim->gpu_index, pools[claim->home].name));
    else if (claim->pool != claim->home)
      warnings.push_back(fmt::format(
          "{}: GPU not local: {} has no free core, so {} is used; use fewer ranks or cores per rank", who,
          pools[claim->home].name, pools[claim->pool].name));
  for (const BorrowedCores& extra : share.extras)
    if (mine.front()->gpu && !extra.spilled && extra.pool != mine.front()->pool)
      warnings.push_back(
          fmt::format("{}: GPU not local to {}, taken from {}; use fewer cores per rank to keep it local",
                      who, cores_text(first_threads_of(extra.cores)), pools[extra.pool].name));
  if (wanted > share.size())
    warnings.push_back(
        fmt::format("{} gets {} of the {} requested cores: no other is free; use fewer cores per rank", who,
                    share.size(), wanted));
  return warnings;
}

using model::GpuLocality;

std::vector<CoreRequest> make_claims(const std::vector<GpuLocality>& gpus, const AffinityRequest& request,
                                     std::vector<std::string>& warnings) {
  std::vector<CoreRequest> claims;
  const std::size_t ranks = request.ranks, count = gpus.size();
  const std::size_t share =
      request.gpus_per_rank ? request.gpus_per_rank : std::max<std::size_t>(1, count / ranks);
  const auto claim = [&](unsigned rank, std::size_t gpu) { claims.push_back({rank, gpu, gpus[gpu].index}); };
  if (!request.own_gpus.empty()) {
    for (unsigned rank = 0; rank < ranks; ++rank) {
      const std::size_t before = claims.size();
      for (const unsigned index :
           rank < request.own_gpus.size() ? request.own_gpus[rank] : std::vector<unsigned>{})
        for (std::size_t gpu = 0; gpu < count; ++gpu)
          if (gpus[gpu].index == index) claim(rank, gpu);
      if (claims.size() == before) claims.push_back({rank});
    }
    return claims;
  }
  std::size_t used = count;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    if (count == 0) {
      claims.push_back({rank});
    } else if (const std::size_t each = request.ranks_per_gpu; each > 0 && ranks <= each * count) {
      claim(rank, rank / each);
      used = (ranks + each - 1) / each;
    } else if (ranks * share <= count) {
      for (std::size_t i = 0; i < share; ++i) claim(rank, rank * share + i);
      used = ranks * share;
    } else {
      claim(rank, rank * count / ranks);
    }
  }
  if (used < count)
    warnings.push_back(fmt::format(
        "{} of {} GPUs have no rank; use more ranks per node, or more GPUs per rank", count - used, count));
  return claims;
}

/// The level at which every GPU in use is attached: their L3s, else their NUMA nodes, else their packages,
/// else the whole node; or the level that is asked for.
std::vector<CorePool> choose_pools(const model::CpuShape& shape, const std::vector<GpuLocality>& gpus,
                                   const std::vector<UsableCore>& cores, const AffinityRequest& request,
                                   std::vector<CoreRequest>& claims) {
  const auto attach = [&](PoolLevel level, const std::vector<model::CpuDomain>& domains,
                          std::optional<unsigned> GpuLocality::*where) {
    if (request.level && *request.level != level) return false;
    for (CoreRequest& claim : claims) {
      if (!claim.gpu || !(gpus[*claim.gpu].*where)) return false;
      const unsigned id = *(gpus[*claim.gpu].*where);
      const auto found =
          std::find_if(domains.begin(), domains.end(), [&](const auto& d) { return d.id == id; });
      if (found == domains.end()) return false;
      claim.home = static_cast<std::size_t>(found - domains.begin());
    }
    return true;
  };
  if (attach(PoolLevel::l3, shape.l3, &GpuLocality::l3))
    return make_pools(PoolLevel::l3, shape.l3, shape, cores);
  if (attach(PoolLevel::numa, shape.numa, &GpuLocality::numa))
    return make_pools(PoolLevel::numa, shape.numa, shape, cores);
  if (attach(PoolLevel::package, shape.packages, &GpuLocality::package))
    return make_pools(PoolLevel::package, shape.packages, shape, cores);
  for (CoreRequest& claim : claims) claim.home = 0;
  return {make_node_pool(shape, cores)};
}

/// Every rank gets all cores of the domains of its GPUs.
std::vector<CoreAllocation> share_whole(const std::vector<CoreRequest>& claims,
                                        const std::vector<CorePool>& pools, unsigned ranks) {
  std::vector<CoreAllocation> shares(ranks);
  for (const CoreRequest& claim : claims) {
    CoreAllocation& share = shares[claim.rank];
    const auto has = [&](const UsableCore& core) {
      return std::any_of(share.cores.begin(), share.cores.end(),
                         [&](const UsableCore& mine) { return mine.threads == core.threads; });
    };
    for (const UsableCore& core : pools[claim.pool].cores)
      if (!has(core)) share.cores.push_back(core);
  }
  return shares;
}

std::vector<CoreAllocation> deal(std::vector<CoreRequest>& claims, const std::vector<CorePool>& pools,
                                 std::size_t cores, const AffinityRequest& request) {
  const std::size_t per_rank = (claims.size() + request.ranks - 1) / request.ranks;
  const std::size_t need =
      request.cpus_per_rank ? (request.cpus_per_rank + per_rank - 1) / per_rank : cores / claims.size();
  const bool whole = request.whole_domain && request.cpus_per_rank == 0;
  assign_pools(claims, pools, need, whole);
  if (whole) return share_whole(claims, pools, request.ranks);
  slice_pools(claims, pools);
  if (request.idle_cores) assign_idle_pools(claims, pools);
  std::vector<CoreAllocation> shares = allocate_cores(claims, pools, request.ranks, request.cpus_per_rank);
  if (!request.balanced) return shares;
  std::size_t least = cores;
  for (const CoreAllocation& share : shares) least = std::min(least, share.size());
  return allocate_cores(claims, pools, request.ranks, least);
}

} // namespace

model::IdSet numa_of(const model::CpuShape& shape, const model::IdSet& cpus) {
  model::IdSet nodes;
  for (const model::CpuDomain& domain : shape.numa)
    if (domain.cpus.intersects(cpus)) nodes.add(domain.id);
  return nodes;
}

AffinityPlan plan_affinity(const model::CpuShape& shape, const std::vector<GpuLocality>& gpus,
                           const AffinityRequest& request) {
  AffinityPlan plan;
  const std::vector<UsableCore> cores =
      usable_cores(shape, request.allowed, std::max(1u, request.threads_per_core));
  if (cores.empty() || request.ranks == 0) return plan;
  std::vector<CoreRequest> claims = make_claims(gpus, request, plan.warnings);
  const std::vector<CorePool> pools = choose_pools(shape, gpus, cores, request, claims);
  const std::vector<CoreAllocation> shares = deal(claims, pools, cores.size(), request);
  const auto claims_of_rank = by_rank(claims, request.ranks);

  for (unsigned rank = 0; rank < request.ranks; ++rank) {
    model::PlannedRankBinding binding;
    binding.local_rank = rank;
    const auto& mine = claims_of_rank[rank];
    const CoreAllocation& share = shares[rank];
    for (const UsableCore& core : share.cores) binding.cpus = binding.cpus | core.threads;
    for (const BorrowedCores& extra : share.extras)
      for (const UsableCore& core : extra.cores) binding.cpus = binding.cpus | core.threads;
    binding.cores = static_cast<unsigned>(share.size());
    binding.numa = binding.memory = numa_of(shape, binding.cpus);
    for (const CoreRequest* claim : mine)
      if (claim->gpu) binding.gpus.push_back(claim->gpu_index);
    if (mine.front()->gpu) binding.nic = gpus[*mine.front()->gpu].nic;
    binding.why = reason_text(binding, mine, pools, share);
    for (auto& warning : share_warnings(rank, mine, pools, share, request.cpus_per_rank))
      plan.warnings.push_back(std::move(warning));
    plan.ranks.push_back(std::move(binding));
  }
  if (cores.size() < request.ranks && !(request.whole_domain && request.cpus_per_rank == 0))
    plan.warnings.push_back(
        fmt::format("only {} for {}: some share a core and run slower; request more CPUs, or fewer ranks",
                    util::counted(cores.size(), "usable core"), util::counted(request.ranks, "rank")));
  return plan;
}

} // namespace hpcml::topo
