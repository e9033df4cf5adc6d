// SPDX-License-Identifier: MIT
// Cores, pools and slices for the affinity planner.
#include "core/topo/core_pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <tuple>

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

std::optional<unsigned> domain_of(const std::vector<CpuDomain>& domains, const IdSet& cpus) {
  for (const CpuDomain& domain : domains)
    if (domain.cpus.intersects(cpus)) return domain.id;
  return std::nullopt;
}

/// Whether the domain has all of the core. One look at the first thread spares most of the set algebra, which
/// is what planning spends its time on.
bool holds(const CpuDomain& domain, const UsableCore& core) {
  return domain.cpus.contains(core.threads.first()) &&
         (core.threads.size() == 1 || core.threads.is_subset_of(domain.cpus));
}

IdSet reserved_cores(const model::CpuShape& shape, const IdSet& within) {
  IdSet first_threads;
  if (shape.reserved.empty()) return first_threads;
  for (const IdSet& core : shape.core_threads)
    if (!core.empty() && core.intersects(shape.reserved) && core.intersects(within))
      first_threads.add(core.first());
  return first_threads;
}

} // namespace

std::vector<UsableCore> usable_cores(const model::CpuShape& shape, const IdSet& allowed,
                                     unsigned threads_per_core) {
  std::vector<UsableCore> cores;
  cores.reserve(shape.core_threads.size());
  for (const IdSet& core : shape.core_threads) {
    // A core with a reserved thread is omitted whole: its sibling would compete with what the thread is
    // reserved for.
    if (!shape.reserved.empty() && core.intersects(shape.reserved)) continue;
    UsableCore usable;
    unsigned count = 0;
    for (IdSet rest = core; count < threads_per_core && !rest.empty(); rest.remove(rest.first())) {
      if (!allowed.empty() && !allowed.contains(rest.first())) continue;
      usable.threads.add(rest.first());
      ++count;
    }
    if (count == 0) continue;
    cores.push_back(std::move(usable));
  }
  const auto lower = [](const UsableCore& a, const UsableCore& b) {
    return a.threads.first() < b.threads.first();
  };
  if (!std::is_sorted(cores.begin(), cores.end(), lower)) std::sort(cores.begin(), cores.end(), lower);
  return cores;
}

std::vector<CorePool> make_pools(PoolLevel level, const std::vector<CpuDomain>& domains,
                                 const model::CpuShape& shape, const std::vector<UsableCore>& cores) {
  std::vector<CorePool> pools;
  pools.reserve(domains.size());
  for (const CpuDomain& domain : domains) {
    CorePool pool;
    pool.cores.reserve(cores.size() / domains.size() + 1);
    pool.level = level;
    pool.id = domain.id;
    if (level != PoolLevel::package) pool.numa = domain_of(shape.numa, domain.cpus);
    pool.package = domain_of(shape.packages, domain.cpus);
    pool.name = (level == PoolLevel::l3     ? "L3 "
                 : level == PoolLevel::numa ? "NUMA "
                                            : "package ") +
                std::to_string(domain.id);
    if (level == PoolLevel::l3 && pool.numa) pool.name += fmt::format(" of NUMA {}", *pool.numa);
    for (const UsableCore& core : cores)
      if (holds(domain, core)) pool.cores.push_back(core);
    pool.reserved = reserved_cores(shape, domain.cpus);
    pools.push_back(std::move(pool));
  }
  CorePool rest;
  rest.name = "the rest of the node";
  for (const UsableCore& core : cores)
    if (std::none_of(domains.begin(), domains.end(),
                     [&](const CpuDomain& domain) { return holds(domain, core); }))
      rest.cores.push_back(core);
  if (!rest.cores.empty()) pools.push_back(std::move(rest));
  return pools;
}

CorePool make_node_pool(const model::CpuShape& shape, const std::vector<UsableCore>& cores) {
  CorePool pool;
  pool.name = "the node";
  pool.cores = cores;
  pool.reserved = reserved_cores(shape, shape.all());
  // NUMA node by NUMA node, so that a contiguous slice crosses as few of them as possible on interleaved
  // numberings.
  const auto place = [&](const UsableCore& core) {
    for (std::size_t i = 0; i < shape.numa.size(); ++i)
      if (core.threads.is_subset_of(shape.numa[i].cpus)) return shape.numa[i].cpus.first();
    return 0u;
  };
  std::stable_sort(pool.cores.begin(), pool.cores.end(),
                   [&](const UsableCore& a, const UsableCore& b) { return place(a) < place(b); });
  return pool;
}

std::optional<std::size_t> nearest_pool(const std::vector<CorePool>& pools, std::size_t home,
                                        const std::function<bool(std::size_t)>& accept) {
  const auto distance = [&](std::size_t p) {
    const CorePool& from = pools[home];
    const CorePool& to = pools[p];
    const bool other_numa = !from.numa || !to.numa || *from.numa != *to.numa;
    const bool other_package = !from.package || !to.package || *from.package != *to.package;
    const unsigned gap = to.id > from.id ? to.id - from.id : from.id - to.id;
    return std::make_tuple(p != home, other_numa, other_package, gap, to.id);
  };
  std::optional<std::size_t> best;
  for (std::size_t p = 0; p < pools.size(); ++p)
    if (accept(p) && (!best || distance(p) < distance(*best))) best = p;
  return best;
}

std::vector<UsableCore> shared_slice_of(const std::vector<UsableCore>& cores, std::size_t index,
                                        std::size_t parts) {
  if (cores.size() >= parts) return slice_of(cores, index, parts);
  return cores.empty() ? cores : std::vector<UsableCore>{cores[index * cores.size() / parts]};
}

std::vector<UsableCore> slice_of(const std::vector<UsableCore>& cores, std::size_t index, std::size_t parts) {
  const std::size_t base = cores.size() / parts;
  const std::size_t larger = cores.size() % parts;
  const std::size_t begin = index * base + std::min(index, larger);
  const std::size_t count = base + (index < larger ? 1 : 0);
  return {cores.begin() + static_cast<std::ptrdiff_t>(begin),
          cores.begin() + static_cast<std::ptrdiff_t>(begin + count)};
}

} // namespace hpcml::topo
