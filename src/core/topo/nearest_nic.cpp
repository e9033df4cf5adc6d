// SPDX-License-Identifier: MIT
#include "core/topo/nearest_nic.hpp"

#include <algorithm>
#include <array>
#include <tuple>

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

} // namespace

std::vector<NicChoice> nearest_nics(const std::vector<Gpu>& gpus, const std::vector<Nic>& nics) {
  std::vector<NicChoice> choices;
  std::vector<unsigned> users(nics.size(), 0);
  for (const Gpu& gpu : gpus) {
    NicChoice choice;
    if (!gpu.place.nic.empty()) {
      choices.push_back({gpu.place.nic, "the profile states it"});
      continue;
    }
    const bool placed = gpu.place.numa || gpu.place.l3 || gpu.place.package;
    std::optional<std::tuple<std::pair<std::size_t, std::size_t>, unsigned, std::size_t>> best;
    for (std::size_t n = 0; n < nics.size(); ++n) {
      if (nics[n].management || !is_placed(nics[n])) continue;
      const auto key = std::make_tuple(distance(gpu, nics[n]), users[n], n);
      // Of a GPU somewhere on the node nothing but a common bridge is known.
      if (!placed && std::get<0>(key).first > 1) continue;
      if (!best || key < *best) best = key;
    }
    if (best) {
      const std::size_t n = std::get<2>(*best);
      ++users[n];
      choice = {nics[n].name, k_reasons[std::get<0>(*best).first]};
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

} // namespace hpcml::topo
