// SPDX-License-Identifier: MIT
// Dealing: homes first, then fair slices, then what is left for those who are short.
#include "core/topo/core_allocation.hpp"

#include <algorithm>

namespace hpcml::topo {
namespace {

std::vector<UsableCore> cut_slices(const std::vector<const CoreRequest*>& mine, std::size_t wanted) {
  if (mine.size() == 1) { // most ranks have one GPU
    const auto& own = mine.front()->cores;
    return {own.begin(), own.begin() + static_cast<std::ptrdiff_t>(
                                           wanted == 0 ? own.size() : std::min(wanted, own.size()))};
  }
  std::vector<std::vector<UsableCore>> parts(mine.size());
  std::vector<std::size_t> next(mine.size(), 0);
  model::IdSet used; // two GPUs of a rank may have got the same core where cores are few
  std::size_t total = 0;
  for (bool grew = true; grew && (wanted == 0 || total < wanted);) {
    grew = false;
    for (std::size_t i = 0; i < mine.size() && (wanted == 0 || total < wanted); ++i) {
      while (next[i] < mine[i]->cores.size() && mine[i]->cores[next[i]].threads.intersects(used)) ++next[i];
      if (next[i] >= mine[i]->cores.size()) continue;
      const UsableCore& core = mine[i]->cores[next[i]++];
      used = used | core.threads;
      parts[i].push_back(core);
      ++total;
      grew = true;
    }
  }
  std::vector<UsableCore> cores;
  for (const auto& part : parts) cores.insert(cores.end(), part.begin(), part.end());
  return cores;
}

/// How many more cores each rank gets: what it misses, or a level share of what exists.
std::vector<std::size_t> level_grants(const std::vector<CoreAllocation>& shares, std::size_t wanted,
                                      std::size_t available) {
  std::vector<std::size_t> grants(shares.size(), 0);
  for (bool grew = true; grew && available > 0;) {
    // The poorest first, one core at a time: the job runs at the pace of its smallest rank.
    grew = false;
    std::size_t poorest = 0, least = wanted;
    for (std::size_t r = 0; r < shares.size(); ++r)
      if (const std::size_t has = shares[r].size() + grants[r]; has < least) {
        least = has;
        poorest = r;
        grew = true;
      }
    if (grew) ++grants[poorest], --available;
  }
  return grants;
}

void take_nearest(CoreAllocation& share, std::size_t home, std::size_t count,
                  std::vector<std::vector<UsableCore>>& free, const std::vector<CorePool>& pools) {
  while (count > 0) {
    const auto pool = nearest_pool(pools, home, [&](std::size_t p) { return !free[p].empty(); });
    if (!pool) return;
    auto& from = free[*pool];
    const std::size_t take = std::min(count, from.size());
    const auto end = from.begin() + static_cast<std::ptrdiff_t>(take);
    share.extras.push_back({*pool, {from.begin(), end}, false});
    from.erase(from.begin(), end);
    count -= take;
  }
}

void top_up(std::vector<CoreAllocation>& shares, const std::vector<CoreRequest>& claims,
            const std::vector<CorePool>& pools, std::size_t wanted) {
  model::IdSet used;
  for (const CoreAllocation& share : shares) {
    for (const UsableCore& core : share.cores) used = used | core.threads;
    for (const BorrowedCores& extra : share.extras)
      for (const UsableCore& core : extra.cores) used = used | core.threads;
  }
  std::vector<std::vector<UsableCore>> free(pools.size());
  std::size_t available = 0;
  for (std::size_t p = 0; p < pools.size(); ++p)
    for (const UsableCore& core : pools[p].cores)
      if (!core.threads.intersects(used)) {
        free[p].push_back(core);
        ++available;
      }
  if (available == 0) return;
  const std::vector<std::size_t> grants = level_grants(shares, wanted, available);
  const auto claims_of_rank = by_rank(claims, static_cast<unsigned>(shares.size()));
  for (std::size_t r = 0; r < shares.size(); ++r)
    if (grants[r] > 0 && !claims_of_rank[r].empty())
      take_nearest(shares[r], claims_of_rank[r].front()->home, grants[r], free, pools);
}

std::vector<CoreRequest*> claims_of(std::vector<CoreRequest>& claims, std::size_t pool) {
  std::vector<CoreRequest*> sharing;
  for (CoreRequest& claim : claims)
    if (claim.pool == pool && !claim.bare) sharing.push_back(&claim);
  std::stable_sort(sharing.begin(), sharing.end(),
                   [](const CoreRequest* a, const CoreRequest* b) { return a->gpu_index < b->gpu_index; });
  return sharing;
}

void add_spilled(CoreAllocation& share, const std::vector<const CoreRequest*>& mine, std::size_t wanted) {
  for (const CoreRequest* claim : mine)
    for (const BorrowedCores& extra : claim->spilled) {
      const std::size_t room = wanted == 0             ? extra.cores.size()
                               : wanted > share.size() ? wanted - share.size()
                                                       : 0;
      const std::size_t take = std::min(room, extra.cores.size());
      if (take == 0) continue;
      const auto first = extra.cores.begin();
      share.extras.push_back({extra.pool, {first, first + static_cast<std::ptrdiff_t>(take)}, true});
    }
}

} // namespace

std::vector<std::vector<const CoreRequest*>> by_rank(const std::vector<CoreRequest>& claims, unsigned ranks) {
  std::vector<std::vector<const CoreRequest*>> sorted(ranks);
  for (const CoreRequest& claim : claims) sorted[claim.rank].push_back(&claim);
  return sorted;
}

std::size_t CoreAllocation::size() const {
  std::size_t count = cores.size();
  for (const BorrowedCores& extra : extras) count += extra.cores.size();
  return count;
}

void assign_pools(std::vector<CoreRequest>& claims, const std::vector<CorePool>& pools, std::size_t need,
                  bool share_whole) {
  std::vector<std::size_t> taken(pools.size(), 0);
  const auto has_room = [&](std::size_t p) { return taken[p] < pools[p].cores.size(); };
  std::vector<CoreRequest*> homeless, more;
  std::optional<unsigned> last;
  for (CoreRequest& claim : claims) {
    claim.pool = claim.home;
    const bool first = claim.rank != last;
    last = claim.rank;
    if (!first && !share_whole)
      more.push_back(&claim);
    else if (has_room(claim.home) || (share_whole && !pools[claim.home].cores.empty()))
      ++taken[claim.home];
    else
      homeless.push_back(&claim);
  }
  const auto share = [&](std::size_t p) { return pools[p].cores.size() / (taken[p] + 1); };
  for (CoreRequest* claim : homeless) {
    std::size_t best = 0;
    for (std::size_t p = 0; p < pools.size(); ++p) best = std::max(best, share(p));
    const std::size_t enough = std::min(std::max<std::size_t>(1, need), best);
    const auto pool = nearest_pool(
        pools, claim->home, [&](std::size_t p) { return !pools[p].cores.empty() && share(p) >= enough; });
    claim->pool = *pool; // the pools hold at least one core
    ++taken[claim->pool];
  }
  for (CoreRequest* claim : more) {
    const auto pool = nearest_pool(pools, claim->home, has_room);
    claim->bare = !pool;
    if (pool) ++taken[claim->pool = *pool];
  }
}

void slice_pools(std::vector<CoreRequest>& claims, const std::vector<CorePool>& pools) {
  for (std::size_t p = 0; p < pools.size(); ++p) {
    const std::vector<CoreRequest*> sharing = claims_of(claims, p);
    for (std::size_t i = 0; i < sharing.size(); ++i)
      sharing[i]->cores = shared_slice_of(pools[p].cores, i, sharing.size());
  }
}

void assign_idle_pools(std::vector<CoreRequest>& claims, const std::vector<CorePool>& pools) {
  std::vector<std::size_t> parts(pools.size(), 0), cores(pools.size(), 0);
  for (const CoreRequest& claim : claims) parts[claim.pool] += claim.bare ? 0 : 1;
  for (std::size_t p = 0; p < pools.size(); ++p) cores[p] = pools[p].cores.size();
  const auto claimed = [&](const CorePool& pool) {
    for (std::size_t p = 0; p < pools.size(); ++p)
      if (parts[p] > 0 && pools[p].numa == pool.numa) return true;
    return false;
  };
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (!pools[p].numa || !pools[p].package || claimed(pools[p])) continue;
    double least = -1; // cores per claim of the poorest pool of the package
    for (std::size_t q = 0; q < pools.size(); ++q)
      if (parts[q] > 0 && pools[q].package == pools[p].package)
        if (const double each = double(cores[q]) / double(parts[q]); least < 0 || each < least) least = each;
    if (least < 0) continue;
    const auto taker = nearest_pool(pools, p, [&](std::size_t q) {
      return parts[q] > 0 && pools[q].package == pools[p].package &&
             double(cores[q]) / double(parts[q]) <= least;
    });
    cores[*taker] += pools[p].cores.size();
    const std::vector<CoreRequest*> sharing = claims_of(claims, *taker);
    for (std::size_t i = 0; i < sharing.size(); ++i)
      sharing[i]->spilled.push_back({p, slice_of(pools[p].cores, i, sharing.size()), true});
  }
}

std::vector<CoreAllocation> allocate_cores(const std::vector<CoreRequest>& claims,
                                           const std::vector<CorePool>& pools, unsigned ranks,
                                           std::size_t wanted) {
  std::vector<CoreAllocation> shares(ranks);
  const auto claims_of_rank = by_rank(claims, ranks);
  for (unsigned rank = 0; rank < ranks; ++rank) {
    shares[rank].cores = cut_slices(claims_of_rank[rank], wanted);
    add_spilled(shares[rank], claims_of_rank[rank], wanted);
  }
  if (wanted > 0) top_up(shares, claims, pools, wanted);
  return shares;
}

} // namespace hpcml::topo
