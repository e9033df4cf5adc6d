// SPDX-License-Identifier: MIT
#include "core/topo/unmet_request.hpp"

#include <algorithm>

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
  return "the node has not " + (wanted > 1 ? std::to_string(wanted) + " cores" : "one core") +
         " for each of " + std::to_string(request.ranks) + " ranks";
}

} // namespace hpcml::topo
