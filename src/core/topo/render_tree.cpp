// SPDX-License-Identifier: MIT
// The node as indented text.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/topo/placement_findings_by_device.hpp"
#include "core/topo/render_plan.hpp"
#include "core/topo/ring.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

class TreeWriter {
public:
  TreeWriter(const Node& node, const AffinityPlan& plan, const std::vector<PlacedRank>& seen)
      : x_node(node), x_plan(plan), x_seen(seen), x_marks(node, seen) {}

  std::string write() {
    x_text = render_node_line(x_node);
    const auto& shape = x_node.cpus;
    if (shape.packages.empty()) write_numa_nodes(shape.all(), 0);
    for (const CpuDomain& package : shape.packages) {
      line(0, fmt::format("package {}", package.id));
      write_numa_nodes(package.cpus, 1);
      write_devices(
          1, [&](const auto& place) { return !place.l3 && !place.numa && place.package == package.id; });
    }
    write_devices(0, [](const auto& place) { return !place.l3 && !place.numa && !place.package; });
    write_links();
    return std::move(x_text);
  }

private:
  struct Place {
    std::optional<unsigned> l3, numa, package;
  };

  void line(unsigned depth, const std::string& text) {
    x_text += std::string(std::size_t{2} * depth, ' ') + text + "\n";
  }

  void write_numa_nodes(const IdSet& inside, unsigned depth) {
    IdSet covered;
    for (const CpuDomain& numa : x_node.cpus.numa) {
      if (!numa.cpus.is_subset_of(inside)) continue;
      covered = covered | numa.cpus;
      line(depth, "NUMA " + std::to_string(numa.id) + mark(x_marks.memory(numa.id)));
      write_caches(numa.cpus, depth + 1);
      write_devices(depth + 1, [&](const auto& place) { return !place.l3 && place.numa == numa.id; });
    }
    if (covered.empty()) write_caches(inside, depth);
  }

  void write_caches(const IdSet& inside, unsigned depth) {
    IdSet covered;
    for (const CpuDomain& l3 : x_node.cpus.l3) {
      if (!l3.cpus.is_subset_of(inside)) continue;
      covered = covered | l3.cpus;
      line(depth, "L3 " + std::to_string(l3.id) + ": " + cores_text(l3.cpus));
      write_devices(depth + 1, [&](const auto& place) { return place.l3 == l3.id; });
    }
    if (const IdSet rest = inside - covered; !rest.empty()) line(depth, "cores: " + cores_text(rest));
  }

  template <class Here> void write_devices(unsigned depth, const Here& is_inside) {
    for (const Gpu& gpu : x_node.gpus) {
      if (!is_inside(Place{gpu.place.l3, gpu.place.numa, gpu.place.package})) continue;
      std::string text = "GPU " + std::to_string(gpu.place.index);
      if (!gpu.place.pci.empty()) text += fmt::format(" at {}", address_of(x_node, gpu));
      const auto has = [&](const auto& rank) {
        return std::find(rank.gpus.begin(), rank.gpus.end(), gpu.place.index) != rank.gpus.end();
      };
      std::vector<std::string> ranks, seen;
      for (const auto& rank : x_plan.ranks)
        if (has(rank)) ranks.push_back(std::to_string(rank.local_rank));
      for (const PlacedRank& rank : x_seen)
        if (has(rank)) seen.push_back(std::to_string(rank.rank));
      text += ranks.empty() ? "" : fmt::format(" -> rank {}", util::join(ranks, ","));
      if (!x_seen.empty() && seen != ranks)
        text += fmt::format(" (! {} has it)",
                            seen.empty() ? "no rank" : fmt::format("rank {}", util::join(seen, ",")));
      line(depth, text + mark(x_marks.gpu(gpu.place.index)) +
                      (gpu.memory_numa ? mark(x_marks.memory(*gpu.memory_numa)) : ""));
    }
    for (const Nic& nic : x_node.nics) {
      if (!is_inside(Place{nic.l3, nic.numa, nic.package})) continue;
      std::vector<std::string> ranks;
      for (const auto& rank : x_plan.ranks)
        if (rank.nic == nic.name) ranks.push_back(std::to_string(rank.local_rank));
      line(depth, "NIC " + nic.name +
                      (ranks.empty() ? "" : fmt::format(" -> rank {}", util::join(ranks, ","))) +
                      mark(x_marks.nic(nic.name)));
    }
  }

  static std::string mark(const std::string& wrong) { return wrong.empty() ? "" : " (! " + wrong + ")"; }

  void write_links() {
    if (x_node.links.empty()) return;
    if (is_linked_alike(x_node)) return line(0, "every GPU is linked with every other, all alike");
    std::vector<std::string> texts;
    for (const GpuLink& link : x_node.links)
      texts.push_back(std::to_string(link.first) + "-" + std::to_string(link.second) + " (" +
                      std::to_string(link.width) + ")");
    line(0, fmt::format("links between GPUs (width): {}", util::join(texts, ", ")));
  }

  /// Runs of cores with the same ranks: "48 reserved, 49-55 rank 0".
  std::string cores_text(const IdSet& inside) const {
    std::vector<std::pair<std::string, IdSet>> runs;
    std::vector<IdSet> cores = x_node.cpus.core_threads;
    std::sort(cores.begin(), cores.end(),
              [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
    for (const IdSet& core : cores) {
      if (!core.is_subset_of(inside)) continue;
      const std::string owner = owner_of(core);
      if (runs.empty() || runs.back().first != owner) runs.push_back({owner, {}});
      runs.back().second.add(core.first());
    }
    std::vector<std::string> texts;
    texts.reserve(runs.size());
    for (const auto& [owner, first_threads] : runs) texts.push_back(first_threads.to_list() + " " + owner);
    return util::join(texts, ", ");
  }

  std::string owner_of(const IdSet& core) const {
    std::vector<std::string> planned, seen;
    for (const auto& rank : x_plan.ranks)
      if (core.intersects(rank.cpus)) planned.push_back(std::to_string(rank.local_rank));
    for (const PlacedRank& rank : x_seen)
      if (core.intersects(rank.cpus)) seen.push_back(std::to_string(rank.rank));
    std::string text = planned.empty() ? "free" : fmt::format("rank {}", util::join(planned, ","));
    if (core.intersects(x_node.cpus.reserved)) text = planned.empty() ? "reserved" : "reserved! " + text;
    if (!x_seen.empty() && seen != planned)
      text += fmt::format(" (! has {})",
                          seen.empty() ? "no rank" : fmt::format("rank {}", util::join(seen, ",")));
    return text;
  }

  const Node& x_node;
  const AffinityPlan& x_plan;
  const std::vector<PlacedRank>& x_seen;
  PlacementFindingsByDevice x_marks;
  std::string x_text;
};

} // namespace

std::string render_tree(const Node& node, const AffinityPlan& plan, const std::vector<PlacedRank>& seen) {
  return TreeWriter(node, plan, seen).write();
}

} // namespace hpcml::topo
