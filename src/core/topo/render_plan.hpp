// SPDX-License-Identifier: MIT
// Plans and evaluation of placement as text, JSON and pictures.
#pragma once

#include <string>
#include <vector>

#include "core/topo/affinity.hpp"
#include "core/topo/check_placement.hpp"

namespace hpcml::topo {

/// One line on the node: its cores, GPUs, NICs and what is reserved.
std::string render_node_line(const Node& node);

/// A table with one row per rank, then one reason per rank.
std::string render_table(const Node& node, const AffinityPlan& plan);

/// Node, ranks with masks, memory and thread settings, warnings.
std::string render_json(const Node& node, const AffinityPlan& plan);

/// The node from packages down to cores as indented text, each core with the ranks that have it; with `seen`,
/// what processes really have, every difference is marked, and the GPUs, NICs and memory that are wrong for a
/// rank.
std::string render_tree(const Node& node, const AffinityPlan& plan, const std::vector<PlacedRank>& seen = {});

/// The same as a drawing that is readable on light and dark pages.
std::string render_svg(const Node& node, const AffinityPlan& plan, const std::vector<PlacedRank>& seen = {});

/// Findings by rank and the score.
std::string render_report(const PlacementReport& report, const std::vector<PlacedRank>& ranks);

/// "rank 1 is not running": a line for ranks that were started; empty where all run.
std::string render_missing(const PlacementReport& report);

/// The same as JSON, each rank that is wrong next to what is planned for it.
std::string render_report_json(const Node& node, const PlacementReport& report,
                               const std::vector<PlacedRank>& ranks, const AffinityPlan& plan);

/// Whether something is wrong with this rank and the plan has other CPUs for it.
bool is_better(const AffinityPlan& plan, const PlacementReport& report, const PlacedRank& rank);

/// What makes the ranks be where the plan has them; empty where no rank that is wrong would be elsewhere.
std::string render_fix(const PlacementReport& report, const std::vector<PlacedRank>& ranks,
                       const AffinityPlan& plan);

/// "{49,113},{50,114}": one place per core, for OMP_PLACES.
std::string omp_places(const Node& node, const model::IdSet& cpus);

} // namespace hpcml::topo
