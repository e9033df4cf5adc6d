// SPDX-License-Identifier: MIT
#include "core/topo/nearest_nic.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <optional>

namespace hpcml::topo {
namespace {

constexpr std::array k_reasons = {"same PCIe switch", "same host bridge", "same L3",
                                  "same NUMA node",   "same package",     "on another package"};

std::size_t common_bridges(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::size_t depth = 0;
  while (depth < a.size() && depth < b.size() && a[depth] == b[depth]) ++depth;
  return depth;
}

bool same(const std::optional<unsigned>& a, const std::optional<unsigned>& b) { return a && b && *a == *b; }

/// How far a device is: position in k_reasons, then bridges that are not shared.
std::pair<std::size_t, std::size_t> distance(const Gpu& gpu, const Nic& nic) {
  const std::size_t depth = common_bridges(gpu.path, nic.path);
  const std::size_t rest = std::max(gpu.path.size(), nic.path.size()) - depth;
  if (depth > 1) return {0, rest};
  if (depth == 1) return {1, rest};
  if (same(gpu.place.l3, nic.l3)) return {2, 0};
  if (same(gpu.place.numa, nic.numa)) return {3, 0};
  if (same(gpu.place.package, nic.package)) return {4, 0};
  return {5, 0};
}

bool is_placed(const Nic& nic) { return nic.numa || nic.l3 || nic.package || !nic.path.empty(); }

/// A NIC as a candidate for a GPU; the least is the best.
struct Candidate {
  std::pair<std::size_t, std::size_t> distance;
  unsigned users = 0;    ///< GPUs that have the NIC already
  unsigned numa_gap = 0; ///< between the numbers of both NUMA nodes: neighbours have neighbouring numbers
  std::size_t nic = 0;
  auto operator<=>(const Candidate&) const = default; // NOLINT(modernize-use-nullptr): as in mem_size.hpp
};

unsigned numa_gap(const Gpu& gpu, const Nic& nic) {
  if (!gpu.place.numa || !nic.numa) return 0;
  return std::max(*gpu.place.numa, *nic.numa) - std::min(*gpu.place.numa, *nic.numa);
}

std::optional<Candidate> find_nearest(const Gpu& gpu, const std::vector<Nic>& nics,
                                      const std::vector<unsigned>& users) {
  const bool placed = gpu.place.numa || gpu.place.l3 || gpu.place.package;
  std::optional<Candidate> best;
  for (std::size_t n = 0; n < nics.size(); ++n) {
    if (nics[n].management || !is_placed(nics[n])) continue;
    const Candidate candidate{distance(gpu, nics[n]), users[n], numa_gap(gpu, nics[n]), n};
    // Of a GPU somewhere on the node nothing but a common bridge is known.
    if (!placed && candidate.distance.first > 1) continue;
    if (!best || candidate < *best) best = candidate;
  }
  return best;
}

} // namespace

std::vector<NicChoice> nearest_nics(const std::vector<Gpu>& gpus, const std::vector<Nic>& nics) {
  std::vector<NicChoice> choices(gpus.size());
  std::vector<unsigned> users(nics.size(), 0);
  // GPUs that are next to a NIC choose first: the others then take the NIC that has fewer.
  std::vector<std::pair<std::size_t, std::size_t>> order; // distance, GPU
  for (std::size_t g = 0; g < gpus.size(); ++g) {
    const auto nearest = find_nearest(gpus[g], nics, users);
    if (!gpus[g].place.nic.empty())
      choices[g] = {gpus[g].place.nic, "the profile states it"};
    else if (nearest)
      order.emplace_back(nearest->distance.first, g);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [unused, g] : order) {
    const auto nearest = find_nearest(gpus[g], nics, users);
    ++users[nearest->nic];
    choices[g] = {nics[nearest->nic].name, k_reasons[nearest->distance.first]};
  }
  return choices;
}

} // namespace hpcml::topo
