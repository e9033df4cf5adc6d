// SPDX-License-Identifier: MIT
// What must hold for every node and every request, on random ones.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "core/topo/affinity.hpp"
#include "random_numbers.hpp"

using namespace hpcml;
using model::CpuShape;
using model::GpuLocality;
using model::IdSet;
using test::chance;
using test::pick;

namespace {

struct Case {
  CpuShape shape;
  std::vector<GpuLocality> gpus;
  topo::AffinityRequest request;
};

/// A node with holes, interleaved or blocked numbering, one or two threads, some levels unknown.
Case random_case(std::mt19937& random) {
  Case made;
  const unsigned numa = pick(random, 1, 6), l3_per_numa = pick(random, 1, 3),
                 cores_per_l3 = pick(random, 1, 8);
  const unsigned threads = pick(random, 1, 2), cores = numa * l3_per_numa * cores_per_l3;
  const bool interleaved = chance(random, 30), adjacent = chance(random, 30);
  const unsigned hole = chance(random, 30) ? pick(random, 1, 40) : 0;
  CpuShape& shape = made.shape;
  shape.cores = cores;
  shape.threads_per_core = threads;
  std::vector<IdSet> numa_cpus(numa), l3_cpus(numa * l3_per_numa);
  for (unsigned core = 0; core < cores; ++core) {
    IdSet set;
    for (unsigned t = 0; t < threads; ++t)
      set.add((adjacent ? core * threads + t : core + t * (cores + hole)) + hole);
    const unsigned l3 = interleaved ? core % (numa * l3_per_numa) : core / cores_per_l3;
    l3_cpus[l3] = l3_cpus[l3] | set;
    numa_cpus[l3 / l3_per_numa] = numa_cpus[l3 / l3_per_numa] | set;
    shape.core_threads.push_back(set);
    if (chance(random, 10)) shape.reserved = shape.reserved | set;
  }
  for (unsigned i = 0; i < numa; ++i)
    shape.numa.push_back({i * 4, numa_cpus[i]}); // ids with gaps, as on POWER
  if (chance(random, 70))
    for (unsigned i = 0; i < l3_cpus.size(); ++i) shape.l3.push_back({i, l3_cpus[i]});
  const unsigned gpus = pick(random, 0, 8);
  const bool known = chance(random, 85), at_l3 = chance(random, 50);
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    GpuLocality place;
    place.index = gpu;
    const unsigned l3 = pick(random, 0, numa * l3_per_numa - 1);
    if (known) place.numa = l3 / l3_per_numa * 4;
    if (known && at_l3) place.l3 = l3;
    made.gpus.push_back(place);
  }
  made.request = {pick(random, 1, 12), 0, pick(random, 0, 6), pick(random, 1, 2), {}};
  if (chance(random, 40)) {
    const auto all = shape.all().ids();
    for (unsigned cpu : all)
      if (chance(random, 60)) made.request.allowed.add(cpu);
    if (made.request.allowed.empty()) made.request.allowed.add(all.front());
  }
  return made;
}

IdSet usable_first_threads(const Case& made) {
  IdSet first;
  for (const auto& core : made.shape.core_threads) {
    const IdSet free = made.request.allowed.empty() ? core : core & made.request.allowed;
    if (!core.intersects(made.shape.reserved) && !free.empty()) first.add(free.first());
  }
  return first;
}

IdSet moved(const IdSet& set, unsigned factor, unsigned shift) {
  IdSet result;
  for (unsigned id : set.ids()) result.add(id * factor + shift);
  return result;
}

Case relabelled(Case made, unsigned factor, unsigned shift) {
  for (auto& core : made.shape.core_threads) core = moved(core, factor, shift);
  for (auto* level : {&made.shape.numa, &made.shape.l3, &made.shape.packages})
    for (auto& domain : *level) domain.cpus = moved(domain.cpus, factor, shift);
  made.shape.reserved = moved(made.shape.reserved, factor, shift);
  made.request.allowed = moved(made.request.allowed, factor, shift);
  return made;
}

topo::AffinityPlan plan(const Case& made) { return topo::plan_affinity(made.shape, made.gpus, made.request); }

} // namespace

TEST_CASE("On random nodes every rank gets whole allowed cores of its own, none reserved") {
  std::mt19937 random(20261121);
  for (int round = 0; round < 3000; ++round) {
    const Case made = random_case(random);
    const auto result = plan(made);
    CAPTURE(round, made.request.ranks, made.gpus.size(), made.shape.reserved.to_list(),
            made.request.allowed.to_list());
    const IdSet usable = usable_first_threads(made);
    if (usable.empty()) {
      REQUIRE(result.ranks.empty());
      continue;
    }
    REQUIRE(result.ranks.size() == made.request.ranks);
    IdSet taken;
    for (const auto& rank : result.ranks) {
      REQUIRE_FALSE(rank.cpus.empty());
      REQUIRE_FALSE(rank.cpus.intersects(made.shape.reserved));
      if (!made.request.allowed.empty()) REQUIRE(rank.cpus.is_subset_of(made.request.allowed));
      REQUIRE(rank.cpus.is_subset_of(made.shape.all()));
      IdSet cores;
      for (std::size_t c = 0; c < made.shape.core_threads.size(); ++c)
        if (made.shape.core_threads[c].intersects(rank.cpus)) cores.add(static_cast<unsigned>(c));
      if (made.request.cpus_per_rank) REQUIRE(cores.size() <= made.request.cpus_per_rank);
      if (made.request.ranks <= usable.size()) REQUIRE_FALSE(cores.intersects(taken));
      taken = taken | cores;
      REQUIRE((made.gpus.empty() ? rank.gpus.empty() : !rank.gpus.empty()));
      REQUIRE_FALSE(rank.why.empty());
    }
  }
}

TEST_CASE("On random nodes no rank gets fewer cores than it asked for while allowed cores are free") {
  std::mt19937 random(314);
  for (int round = 0; round < 3000; ++round) {
    const Case made = random_case(random);
    if (made.request.cpus_per_rank == 0) continue;
    const auto result = plan(made);
    IdSet taken;
    bool short_of_cores = false;
    for (const auto& rank : result.ranks) {
      IdSet cores;
      for (const auto& core : made.shape.core_threads)
        if (core.intersects(rank.cpus)) cores.add((core & rank.cpus).first());
      short_of_cores = short_of_cores || cores.size() < made.request.cpus_per_rank;
      taken = taken | cores;
    }
    CAPTURE(round, made.request.ranks, made.request.cpus_per_rank, made.request.allowed.to_list());
    if (short_of_cores) REQUIRE((usable_first_threads(made) - taken).to_list() == "");
  }
}

TEST_CASE("On random nodes cores are local to the rank's first GPU, or a warning says that they are not") {
  std::mt19937 random(77);
  for (int round = 0; round < 2000; ++round) {
    const Case made = random_case(random);
    if (made.gpus.empty() || !made.gpus[0].numa) continue;
    const auto result = plan(made);
    for (const auto& rank : result.ranks) {
      if (rank.gpus.size() != 1) continue;
      const auto& gpu = made.gpus[rank.gpus[0]];
      const auto node = std::find_if(made.shape.numa.begin(), made.shape.numa.end(),
                                     [&](const auto& d) { return d.id == *gpu.numa; });
      const std::string prefix = "rank " + std::to_string(rank.local_rank) + ": GPU not local";
      const bool is_reported = std::any_of(result.warnings.begin(), result.warnings.end(),
                                           [&](const auto& w) { return w.starts_with(prefix); });
      CAPTURE(round, rank.local_rank, rank.cpus.to_list());
      if (!is_reported) REQUIRE(rank.cpus.is_subset_of(node->cpus));
    }
  }
}

TEST_CASE("Renumbering the CPUs of a random node renumbers its plan and changes nothing else") {
  std::mt19937 random(4711);
  for (int round = 0; round < 2000; ++round) {
    const Case made = random_case(random);
    const unsigned factor = pick(random, 1, 3), shift = pick(random, 0, 50);
    const auto before = plan(made), after = plan(relabelled(made, factor, shift));
    CAPTURE(round, factor, shift);
    REQUIRE(before.ranks.size() == after.ranks.size());
    for (std::size_t i = 0; i < before.ranks.size(); ++i) {
      REQUIRE(moved(before.ranks[i].cpus, factor, shift) == after.ranks[i].cpus);
      REQUIRE(before.ranks[i].gpus == after.ranks[i].gpus);
    }
    REQUIRE(before.warnings.size() == after.warnings.size());
  }
}
