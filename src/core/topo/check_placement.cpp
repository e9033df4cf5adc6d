// SPDX-License-Identifier: MIT
#include "core/topo/check_placement.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/topo/nearest_nic.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

const Gpu* find_gpu(const Node& node, unsigned index) {
  for (const Gpu& gpu : node.gpus)
    if (gpu.place.index == index) return &gpu;
  return nullptr;
}

const CpuDomain* find(const std::vector<CpuDomain>& domains, std::optional<unsigned> id) {
  for (const CpuDomain& domain : domains)
    if (id && domain.id == *id) return &domain;
  return nullptr;
}

/// The deepest domain that all of the rank's GPUs are known to be in, by name and CPUs.
struct Home {
  std::string name;
  IdSet cpus;
};

Home home_of(const Node& node, const std::vector<unsigned>& gpus, const IdSet& cpus) {
  struct Level {
    const char* name;
    const std::vector<CpuDomain>& domains;
    std::optional<unsigned> model::GpuLocality::*where;
  };
  const Level levels[] = {{"L3 ", node.cpus.l3, &model::GpuLocality::l3},
                          {"NUMA ", node.cpus.numa, &model::GpuLocality::numa},
                          {"package ", node.cpus.packages, &model::GpuLocality::package}};
  for (const Level& level : levels) {
    Home home;
    std::size_t largest = 0;
    bool known = !gpus.empty();
    for (unsigned index : gpus) {
      const Gpu* gpu = find_gpu(node, index);
      const CpuDomain* domain = gpu ? find(level.domains, gpu->place.*level.where) : nullptr;
      known = known && domain != nullptr;
      if (!domain || !home.cpus.intersects(domain->cpus))
        home.name += (home.name.empty() ? "" : " and ") + std::string(level.name) +
                     (domain ? std::to_string(domain->id) : "?");
      if (domain) {
        home.cpus = home.cpus | domain->cpus;
        largest = std::max(largest, domain->cpus.size());
      }
    }
    // A mask that is wider than the domain on purpose is evaluated one level up.
    if (known && !(home.cpus.is_subset_of(cpus) && cpus.size() > home.cpus.size())) return home;
  }
  return {};
}

class Checker {
public:
  Checker(const Node& node, const std::vector<PlacedRank>& ranks) : x_node(node), x_ranks(ranks) {}

  PlacementReport run() {
    for (const PlacedRank& rank : x_ranks) {
      check_allowed(rank);
      check_local(rank);
      check_shared(rank);
      check_nic(rank);
      check_memory(rank);
    }
    check_even();
    std::size_t all = 0, good = 0;
    for (const PlacedRank& rank : x_ranks) {
      all += std::max<std::size_t>(1, rank.cpus.size());
      good += (rank.cpus - bad(rank)).size();
    }
    if (all > 0) x_report.score = double(good) / double(all);
    return std::move(x_report);
  }

private:
  void add(PlacementFault kind, const PlacedRank& rank, std::string text, bool wrong = true,
           std::vector<unsigned> others = {}) {
    x_report.findings.push_back({kind, rank.rank, std::move(text), std::move(others), wrong});
  }

  IdSet usable() const {
    return (x_node.allowed.empty() ? x_node.cpus.all() : x_node.allowed) - x_node.cpus.reserved;
  }

  /// CPUs of the mask that are not allowed, far from the GPU, or another user's as well.
  IdSet bad(const PlacedRank& rank) const {
    IdSet cpus = rank.cpus - usable();
    const Home home = home_of(x_node, rank.gpus, rank.cpus);
    const IdSet far = rank.cpus - home.cpus;
    // Spare CPUs are none where the rank has no others.
    if (!home.cpus.empty() && (far == rank.cpus || !is_spare(far, rank))) cpus = cpus | far;
    for (const PlacedRank& neighbour : x_ranks)
      if (&neighbour != &rank) cpus = cpus | (rank.cpus & neighbour.cpus);
    return cpus;
  }

  void check_allowed(const PlacedRank& rank) {
    if (rank.cpus.empty()) return add(PlacementFault::no_cpus, rank, "it has no CPU");
    const IdSet all = x_node.cpus.all();
    if (const IdSet reserved = rank.cpus & x_node.cpus.reserved; !reserved.empty())
      add(PlacementFault::reserved, rank,
          fmt::format("{}{} reserved by the site", cpus_text(reserved),
                      reserved.size() == 1 ? " is" : " are"));
    if (const IdSet foreign = rank.cpus - all; !foreign.empty())
      add(PlacementFault::outside, rank, fmt::format("the node has no {}", cpus_text(foreign)));
    else if (const IdSet outside = rank.cpus - x_node.allowed; !x_node.allowed.empty() && !outside.empty())
      add(PlacementFault::outside, rank, fmt::format("{} must not be used by this step", cpus_text(outside)));
  }

  void check_local(const PlacedRank& rank) {
    for (unsigned index : rank.gpus)
      if (!find_gpu(x_node, index))
        add(PlacementFault::remote, rank, fmt::format("the node has no GPU {}", index));
    const Home home = home_of(x_node, rank.gpus, rank.cpus);
    if (home.cpus.empty() || rank.cpus.empty() || rank.cpus.is_subset_of(home.cpus)) return;
    const IdSet far = rank.cpus - home.cpus;
    if (far == rank.cpus)
      return add(PlacementFault::remote, rank,
                 fmt::format("none of its CPUs is in {} of its GPU", home.name));
    add(PlacementFault::partly_remote, rank,
        fmt::format("{}{} not in {} of its GPU", cpus_text(far), far.size() == 1 ? " is" : " are", home.name),
        !is_spare(far, rank));
  }

  /// True for CPUs of the GPUs' packages that are near no GPU in use: a rank may use them without a cost.
  bool is_spare(const IdSet& cpus, const PlacedRank& rank) const {
    IdSet packages;
    for (unsigned index : rank.gpus) {
      const Gpu* own = find_gpu(x_node, index);
      const CpuDomain* package = own ? find(x_node.cpus.packages, own->place.package) : nullptr;
      if (package) packages = packages | package->cpus;
    }
    if (!cpus.is_subset_of(packages)) return false;
    for (const PlacedRank& neighbour : x_ranks)
      for (unsigned index : neighbour.gpus) {
        const Gpu* gpu = find_gpu(x_node, index);
        const CpuDomain* numa = gpu ? find(x_node.cpus.numa, gpu->place.numa) : nullptr;
        if (numa && numa->cpus.intersects(cpus)) return false;
      }
    return true;
  }

  void check_shared(const PlacedRank& rank) {
    IdSet shared, split;
    std::vector<unsigned> with, halves;
    for (const PlacedRank& neighbour : x_ranks) {
      if (&neighbour == &rank) continue;
      if (const IdSet common = rank.cpus & neighbour.cpus; !common.empty()) {
        shared = shared | common;
        with.push_back(neighbour.rank);
      }
      for (const IdSet& core : x_node.cpus.core_threads) {
        const IdSet mine = core & rank.cpus, theirs = core & neighbour.cpus;
        if (mine.empty() || theirs.empty() || mine.intersects(theirs)) continue;
        split = split | core;
        if (halves.empty() || halves.back() != neighbour.rank) halves.push_back(neighbour.rank);
      }
    }
    if (!shared.empty())
      add(PlacementFault::overlap, rank,
          fmt::format("it shares {} with {}{}", cpus_text(shared), with.size() == 1 ? "rank " : "ranks ",
                      IdSet::of(with).to_list()),
          false, with);
    if (!split.empty())
      add(PlacementFault::sibling_split, rank,
          fmt::format("hardware threads {} of one core belong to different ranks", split.to_list()), true,
          halves);
  }

  void check_nic(const PlacedRank& rank) {
    if (rank.nic.empty() || rank.gpus.empty()) return;
    const Gpu* gpu = find_gpu(x_node, rank.gpus.front());
    if (!gpu) return;
    std::vector<Nic> own;
    for (const Nic& nic : x_node.nics)
      if (nic.name == rank.nic) own.push_back(nic);
    if (own.empty() || rank.nic == gpu->place.nic) return;
    Gpu placed = *gpu; // evaluated by places: a name in the profile is not a distance
    placed.place.nic.clear();
    const auto best = nearest_nics({placed}, x_node.nics).front(), mine = nearest_nics({placed}, own).front();
    if (!best.nic.empty() && best.nic != rank.nic && best.why != mine.why)
      add(PlacementFault::remote_nic, rank,
          fmt::format("NIC {} ({}) is nearer than {}", best.nic, best.why, rank.nic));
  }

  void check_memory(const PlacedRank& rank) {
    if (!rank.memory || rank.memory->nodes.empty()) return;
    const IdSet& nodes = rank.memory->nodes;
    const std::string text = fmt::format("its {}", render_memory(*rank.memory));
    for (const NumaNode& numa : x_node.numa)
      if (numa.kind == NumaMemoryOwner::device && nodes.contains(numa.id))
        return add(PlacementFault::remote_memory, rank,
                   fmt::format("{}: NUMA {} is memory of a GPU", text, numa.id));
    IdSet near;
    for (const CpuDomain& numa : x_node.cpus.numa)
      if (numa.cpus.intersects(rank.cpus)) near.add(numa.id);
    // NUMA nodes of CPUs without memory take another's.
    const bool evaluated =
        !near.empty() && std::none_of(x_node.numa.begin(), x_node.numa.end(), [&](const NumaNode& numa) {
          return numa.kind == NumaMemoryOwner::none && near.contains(numa.id);
        });
    if (!evaluated || nodes.is_subset_of(near)) return;
    add(PlacementFault::remote_memory, rank, fmt::format("{}, its CPUs are in NUMA {}", text, near.to_list()),
        !nodes.intersects(near));
  }

  void check_even() {
    std::size_t most = 0;
    for (const PlacedRank& rank : x_ranks) most = std::max(most, rank.cpus.size());
    for (const PlacedRank& rank : x_ranks)
      if (!rank.cpus.empty() && rank.cpus.size() < most)
        add(PlacementFault::uneven, rank,
            fmt::format("it has {} CPUs, another rank has {}", rank.cpus.size(), most), false);
  }

  const Node& x_node;
  const std::vector<PlacedRank>& x_ranks;
  PlacementReport x_report;
};

} // namespace

std::string cpus_text(const model::IdSet& cpus) {
  return (cpus.size() == 1 ? "CPU " : "CPUs ") + cpus.to_list();
}

std::string name_of(PlacementFault finding) {
  switch (finding) {
  case PlacementFault::no_cpus: return "no-cpus";
  case PlacementFault::outside: return "outside";
  case PlacementFault::reserved: return "reserved";
  case PlacementFault::remote: return "gpu-remote";
  case PlacementFault::partly_remote: return "gpu-partly-remote";
  case PlacementFault::sibling_split: return "sibling-split";
  case PlacementFault::overlap: return "overlap";
  case PlacementFault::uneven: return "uneven";
  case PlacementFault::remote_nic: return "nic-remote";
  case PlacementFault::remote_memory: return "memory-remote";
  }
  return "other";
}

bool PlacementReport::wrong(unsigned rank) const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const PlacementFinding& f) { return f.rank == rank && f.wrong; });
}

PlacementReport check_placement(const Node& node, const std::vector<PlacedRank>& ranks) {
  return Checker(node, ranks).run();
}

} // namespace hpcml::topo
