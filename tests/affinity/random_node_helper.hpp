// SPDX-License-Identifier: MIT
// Random nodes of all shapes, and the same node as JSON and as hwloc XML.
#pragma once

#include <random>
#include <string>

#include "core/topo/affinity.hpp"

namespace hpcml::test {

/// Packages, NUMA nodes, L3s and cores of random number; CPU ids in blocks, interleaved, with neighbouring or
/// distant hardware threads, with holes; GPUs and NICs under L3s, NUMA nodes, packages or the machine; some
/// cores reserved. Complete and free of findings.
topo::Node random_node(std::mt19937& random);

/// A request that fits the node, with any of the planner's options.
topo::AffinityRequest random_request(std::mt19937& random, const topo::Node& node);

std::string render_json(const topo::Node& node);
/// As a site's profile describes it.
model::NodeType as_profile(const topo::Node& node);
/// As hwloc 2 exports it; reserved CPUs are not in it.
std::string render_hwloc_xml(const topo::Node& node);

} // namespace hpcml::test
