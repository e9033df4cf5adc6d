// SPDX-License-Identifier: MIT
#include "core/topo/unmet_request.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace hpcml::topo {

std::optional<std::string> unmet_request(const Node& node, const AffinityRequest& request,
                                         const AffinityPlan& plan) {
  if (node.cpus.core_threads.empty()) return std::nullopt;
  if (plan.ranks.empty()) return "none of the node's cores may be used";
  const unsigned wanted = std::max(1u, request.cpus_per_rank);
  model::IdSet taken;
  bool met = true;
  for (const auto& rank : plan.ranks) {
    met = met && rank.cores >= wanted && (request.whole_domain || !rank.cpus.intersects(taken));
    taken = taken | rank.cpus;
  }
  if (met) return std::nullopt;
  return fmt::format("the node does not have {} for each of {} ranks",
                     wanted > 1 ? fmt::format("{} cores", wanted) : "one core", request.ranks);
}

} // namespace hpcml::topo
