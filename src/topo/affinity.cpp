// SPDX-License-Identifier: MIT
// The affinity planner: cores and domains first, then claims (one per rank and GPU), then slices, then
// sentences.
#include "topo/affinity.hpp"

#include <algorithm>
#include <optional>

#include "topo/deal.hpp"

namespace hpcml::topo {
namespace {

using model::GpuPlace;

std::vector<Claim> make_claims(std::size_t gpus, const AffinityRequest& request,
                               std::vector<std::string>& warnings) {
  std::vector<Claim> claims;
  const std::size_t ranks = request.ranks;
  const std::size_t share =
      request.gpus_per_rank ? request.gpus_per_rank : std::max<std::size_t>(1, gpus / ranks);
  for (unsigned rank = 0; rank < ranks; ++rank) {
    if (gpus == 0) {
      claims.push_back({rank, std::nullopt, 0, 0, {}});
    } else if (ranks * share <= gpus) {
      for (std::size_t i = 0; i < share; ++i) claims.push_back({rank, rank * share + i, 0, 0, {}});
    } else {
      claims.push_back({rank, rank * gpus / ranks, 0, 0, {}});
    }
  }
  if (gpus > 0 && ranks * share < gpus)
    warnings.push_back(std::to_string(gpus - ranks * share) + " of " + std::to_string(gpus) +
                       " GPUs have no rank");
  return claims;
}

/// The level at which every GPU in use is attached: their L3s, else their NUMA nodes, else the whole node.
std::vector<Pool> choose_pools(const model::CpuShape& shape, const std::vector<GpuPlace>& gpus,
                               const std::vector<Core>& cores, std::vector<Claim>& claims) {
  const auto attach = [&](const std::vector<model::CpuDomain>& domains,
                          std::optional<unsigned> GpuPlace::*where) {
    for (Claim& claim : claims) {
      if (!claim.gpu || !(gpus[*claim.gpu].*where)) return false;
      const unsigned id = *(gpus[*claim.gpu].*where);
      const auto found =
          std::find_if(domains.begin(), domains.end(), [&](const auto& d) { return d.id == id; });
      if (found == domains.end()) return false;
      claim.home = static_cast<std::size_t>(found - domains.begin());
    }
    return !claims.empty();
  };
  if (attach(shape.l3, &GpuPlace::l3)) return make_pools(PoolLevel::l3, shape.l3, shape, cores);
  if (attach(shape.numa, &GpuPlace::numa)) return make_pools(PoolLevel::numa, shape.numa, shape, cores);
  for (Claim& claim : claims) claim.home = 0;
  return {make_node_pool(shape, cores)};
}

/// "GPUs 0-1": the GPUs' own numbers, not their places in the list.
std::string gpu_text(const std::vector<unsigned>& gpus) {
  return (gpus.size() == 1 ? "GPU " : "GPUs ") + model::IdSet::of(gpus).to_list();
}

model::IdSet first_threads_of(const std::vector<Core>& cores) {
  model::IdSet first_threads;
  for (const Core& core : cores) first_threads.add(core.threads.first());
  return first_threads;
}

std::string cores_text(const model::IdSet& first_threads) {
  return (first_threads.size() == 1 ? "core " : "cores ") + first_threads.to_list();
}

std::string explain(const model::PlannedRankBinding& binding, const std::vector<const Claim*>& mine,
                    const std::vector<Pool>& pools, const Share& share) {
  std::string why;
  const model::IdSet first_threads = first_threads_of(share.cores);
  const Pool& home = pools[mine.front()->home];
  if (!binding.gpus.empty()) {
    why = gpu_text(binding.gpus);
    if (home.level == PoolLevel::node) {
      why += ": locality unknown; ";
    } else {
      std::vector<std::string> names;
      for (const Claim* claim : mine)
        if (const auto& name = pools[claim->home].name;
            std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
      why += binding.gpus.size() == 1 ? " is under " : " are under ";
      for (std::size_t i = 0; i < names.size(); ++i) why += (i ? " and " : "") + names[i];
      why += "; ";
    }
  }
  why += cores_text(first_threads);
  model::IdSet reserved;
  for (const Claim* claim : mine) reserved = reserved | pools[claim->pool].reserved;
  if (!reserved.empty())
    why += ", " + cores_text(reserved) + (reserved.size() == 1 ? " is" : " are") + " reserved";
  if (mine.front()->pool != mine.front()->home) why += "; " + home.name + " has no free core";
  for (const Extra& extra : share.extras)
    why += "; " + cores_text(first_threads_of(extra.cores)) + " of " + pools[extra.pool].name +
           ", because its own domain has no more";
  return why;
}

void warn(AffinityPlan& plan, const model::PlannedRankBinding& binding, const std::vector<const Claim*>& mine,
          const std::vector<Pool>& pools, const Share& share, unsigned wanted) {
  for (const Claim* claim : mine)
    if (claim->pool != claim->home)
      plan.warnings.push_back("rank " + std::to_string(binding.local_rank) +
                              ": GPU not local: " + pools[claim->home].name +
                              " has no free core, taken from " + pools[claim->pool].name);
  for (const Extra& extra : share.extras)
    if (mine.front()->gpu && extra.pool != mine.front()->pool)
      plan.warnings.push_back("rank " + std::to_string(binding.local_rank) + ": GPU not local to " +
                              cores_text(first_threads_of(extra.cores)) + ", taken from " +
                              pools[extra.pool].name);
  if (wanted > share.size())
    plan.warnings.push_back("rank " + std::to_string(binding.local_rank) + " gets " +
                            std::to_string(share.size()) + " of the " + std::to_string(wanted) +
                            " cores asked for");
}

} // namespace

AffinityPlan plan_affinity(const model::CpuShape& shape, const std::vector<GpuPlace>& gpus,
                           const AffinityRequest& request) {
  AffinityPlan plan;
  const std::vector<Core> cores =
      usable_cores(shape, request.allowed, std::max(1u, request.threads_per_core));
  if (cores.empty() || request.ranks == 0) return plan;
  std::vector<Claim> claims = make_claims(gpus.size(), request, plan.warnings);
  const std::vector<Pool> pools = choose_pools(shape, gpus, cores, claims);
  const std::size_t per_claim = (claims.size() + request.ranks - 1) / request.ranks;
  const std::size_t need = request.cpus_per_rank ? (request.cpus_per_rank + per_claim - 1) / per_claim
                                                 : cores.size() / claims.size();
  assign_pools(claims, pools, need);
  slice_pools(claims, pools);
  const std::vector<Share> shares = share_out(claims, pools, request.ranks, request.cpus_per_rank);

  for (unsigned rank = 0; rank < request.ranks; ++rank) {
    model::PlannedRankBinding binding;
    binding.local_rank = rank;
    std::vector<const Claim*> mine;
    for (const Claim& claim : claims)
      if (claim.rank == rank) mine.push_back(&claim);
    for (const Core& core : shares[rank].cores) binding.cpus = binding.cpus | core.threads;
    for (const Extra& extra : shares[rank].extras)
      for (const Core& core : extra.cores) binding.cpus = binding.cpus | core.threads;
    for (const Claim* claim : mine)
      if (claim->gpu) binding.gpus.push_back(gpus[*claim->gpu].index);
    if (mine.front()->gpu) binding.nic = gpus[*mine.front()->gpu].nic;
    binding.why = explain(binding, mine, pools, shares[rank]);
    warn(plan, binding, mine, pools, shares[rank], request.cpus_per_rank);
    plan.ranks.push_back(std::move(binding));
  }
  if (cores.size() < claims.size())
    plan.warnings.push_back("only " + std::to_string(cores.size()) + " usable cores for " +
                            std::to_string(request.ranks) + " ranks: some share a core");
  return plan;
}

} // namespace hpcml::topo
