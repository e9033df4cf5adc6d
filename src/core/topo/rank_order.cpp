// SPDX-License-Identifier: MIT
#include "core/topo/rank_order.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "core/topo/ring.hpp"

namespace hpcml::topo {

std::optional<unsigned> lowest_cpu(const model::CpuShape& shape, const model::GpuLocality& place) {
  const auto first = [](const std::vector<model::CpuDomain>& domains, std::optional<unsigned> id) {
    const auto* domain = id ? find_domain(domains, *id) : nullptr;
    return domain && !domain->cpus.empty() ? std::optional(domain->cpus.first()) : std::nullopt;
  };
  if (const auto cpu = first(shape.l3, place.l3)) return cpu;
  if (const auto cpu = first(shape.numa, place.numa)) return cpu;
  return first(shape.packages, place.package);
}

std::vector<GpuLink> renumber_links(const std::vector<GpuLink>& links,
                                    const std::map<unsigned, unsigned>& numbers) {
  std::vector<GpuLink> renumbered;
  for (const GpuLink& link : links) {
    const auto first = numbers.find(link.first), second = numbers.find(link.second);
    if (first != numbers.end() && second != numbers.end())
      renumbered.push_back({first->second, second->second, link.width});
  }
  return renumbered;
}

util::Result<std::vector<std::size_t>> find_rank_order(const std::vector<RankGpuOrderKey>& gpus,
                                                       const std::vector<GpuLink>& links,
                                                       const model::GpuOrder& order) {
  using model::GpuOrderKind;
  std::vector<std::size_t> positions(gpus.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  if (order.kind == GpuOrderKind::gpu) return positions;
  if (order.kind == GpuOrderKind::cpu) {
    std::stable_sort(positions.begin(), positions.end(),
                     [&](auto a, auto b) { return gpus[a].lowest_cpu < gpus[b].lowest_cpu; });
    return positions;
  }
  auto numbers = order.list;
  if (order.kind == GpuOrderKind::ring) {
    for (const auto& gpu : gpus) numbers.push_back(gpu.index);
    TRY(numbers, find_ring(numbers, links));
  }
  positions.clear();
  for (const unsigned number : numbers) {
    const auto found =
        std::find_if(gpus.begin(), gpus.end(), [&](const auto& gpu) { return gpu.index == number; });
    if (found == gpus.end())
      return util::Error{
          fmt::format("the order of the GPUs names GPU {}, but there are only {} GPUs", number, gpus.size()),
          "use numbers from 0 in --rank-order, as the step sees the GPUs"};
    const auto position = static_cast<std::size_t>(found - gpus.begin());
    if (std::find(positions.begin(), positions.end(), position) != positions.end())
      return util::Error{fmt::format("the order of the GPUs names GPU {} twice", number),
                         "remove one of them from --rank-order"};
    positions.push_back(position);
  }
  return positions;
}

} // namespace hpcml::topo
