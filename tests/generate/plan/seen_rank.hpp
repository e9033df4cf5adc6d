// SPDX-License-Identifier: MIT
// A rank with what its node has for all, for tests that look at one rank.
#pragma once

#include "generate/plan/rank_plan.hpp"

namespace hpcml::test {

/// The facts of a node, and which of its ranks is looked at.
struct RankFacts : plan::StepNodeFacts {
  unsigned local_rank = 0;
};

/// What one rank gets, and what it shares with the others of its node; warnings are of both.
struct SeenRank : plan::RankPlan {
  std::vector<model::PlannedCache> caches;
  model::GpuVisibilityMode gpu_visibility;
  std::string visible_variable;
  std::vector<std::string> node_warnings;
};

inline SeenRank seen_rank(const model::Site& site, const RankFacts& facts, const plan::RankOptions& request) {
  const auto placed = plan::place_node(site, facts);
  const auto node = plan::plan_node(site, placed.value, facts, request);
  SeenRank seen{plan::plan_rank(site, node, facts.local_rank),
                node.caches,
                node.gpu_visibility,
                node.visible_variable,
                {}};
  for (const auto& finding : placed.remarks.findings) seen.node_warnings.push_back(finding.message);
  seen.warnings.insert(seen.warnings.begin(), node.warnings.begin(), node.warnings.end());
  return seen;
}

} // namespace hpcml::test
