// SPDX-License-Identifier: MIT
#include "core/topo/ring.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace hpcml::topo {
namespace {

constexpr std::size_t k_exhaustive = 9; // 8! orders are tried in about a millisecond

using Widths = std::vector<std::vector<unsigned long long>>;

/// Narrowest link, then the sum of all; the ring closes.
std::pair<unsigned long long, unsigned long long> rate(const std::vector<std::size_t>& order,
                                                       const Widths& widths) {
  unsigned long long narrowest = std::numeric_limits<unsigned long long>::max(), sum = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto width = widths[order[i]][order[(i + 1) % order.size()]];
    narrowest = std::min(narrowest, width);
    sum += width;
  }
  return {narrowest, sum};
}

std::vector<std::size_t> take_widest(const Widths& widths) {
  std::vector<std::size_t> order = {0};
  std::vector<bool> used(widths.size(), false);
  used[0] = true;
  while (order.size() < widths.size()) {
    std::size_t best = widths.size();
    for (std::size_t next = 0; next < widths.size(); ++next)
      if (!used[next] && (best == widths.size() || widths[order.back()][next] > widths[order.back()][best]))
        best = next;
    used[best] = true;
    order.push_back(best);
  }
  return order;
}

} // namespace

util::Result<std::vector<unsigned>> find_ring(const std::vector<unsigned>& gpus,
                                              const std::vector<GpuLink>& links) {
  std::vector<unsigned> sorted = gpus;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() < 3) return sorted; // one order is as good as the other
  Widths widths(sorted.size(), std::vector<unsigned long long>(sorted.size(), 0));
  for (const GpuLink& link : links) {
    const auto a = std::find(sorted.begin(), sorted.end(), link.first),
               b = std::find(sorted.begin(), sorted.end(), link.second);
    if (a == sorted.end() || b == sorted.end()) continue;
    const auto i = static_cast<std::size_t>(a - sorted.begin()),
               j = static_cast<std::size_t>(b - sorted.begin());
    widths[i][j] = widths[j][i] = std::max<unsigned long long>(link.width, widths[i][j]);
  }
  std::vector<std::size_t> order(sorted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> best = sorted.size() > k_exhaustive ? take_widest(widths) : order;
  if (sorted.size() <= k_exhaustive)
    while (std::next_permutation(order.begin() + 1, order.end()))
      if (order[1] < order.back() && rate(order, widths) > rate(best, widths)) best = order;
  if (rate(best, widths).first == 0)
    return util::Error{links.empty() ? "cannot find a ring: the node's topology has no links between its GPUs"
                                     : "cannot find a ring: the links between the GPUs do not form one",
                       "use --rank-order with a list such as 0,1,3,2, or --rank-order gpu"};
  std::vector<unsigned> ring;
  ring.reserve(best.size());
  for (const std::size_t place : best) ring.push_back(sorted[place]);
  return ring;
}

bool is_linked_alike(const Node& node) {
  const std::size_t count = node.gpus.size();
  return node.links.size() == count * (count - 1) / 2 &&
         std::all_of(node.links.begin(), node.links.end(),
                     [&](const GpuLink& link) { return link.width == node.links.front().width; });
}

} // namespace hpcml::topo
