// SPDX-License-Identifier: MIT
// Which other kinds of GPU node there are beside the one that a job is planned for.
#include <catch2/catch.hpp>

#include "core/site_rules/gpu_names.hpp"
#include "core/site_rules/placement.hpp"

using namespace hpcml;

namespace {

model::NodeType node_of(const std::string& id, const std::string& type, unsigned cpus_per_gpu) {
  model::NodeType node;
  node.id = id;
  node.gpu.emplace();
  node.gpu->slurm_type = type;
  node.gpu->per_node = 4;
  node.cpus_per_gpu = cpus_per_gpu;
  return node;
}

} // namespace

TEST_CASE("the other types of GPUs are told once each, those without a name not at all") {
  const auto a = node_of("a", "a100", 8), b = node_of("b", "h100", 8), c = node_of("c", "h100", 16),
             nameless = node_of("d", "", 8);
  const model::NodeType without = [] {
    model::NodeType node;
    node.id = "cpu";
    return node;
  }();
  CHECK(site_rules::other_gpu_types({&a, &b, &c, &nameless, &without}, "a100") ==
        std::vector<std::string>{"h100"});
  CHECK(site_rules::other_gpu_types({&a}, "a100").empty());
  CHECK(site_rules::gpu_name(a) == "a100");
  CHECK(site_rules::gpu_name(nameless) == "d");
}

TEST_CASE("nodes with another share are those that can take the job and have other cores or memory per GPU") {
  const auto chosen = node_of("a", "a100", 8), same = node_of("b", "v100", 8),
             more = node_of("c", "h100", 16);
  auto small = node_of("d", "t4", 4);
  small.gpu->per_node = 1;
  site_rules::ResolvedPlacement placement;
  placement.nodes = {&chosen, &same, &more, &small};
  placement.planned = &chosen;
  using Nodes = std::vector<const model::NodeType*>;
  CHECK(site_rules::nodes_with_other_share(placement, 4, {}) == Nodes{&more});
  CHECK(site_rules::nodes_with_other_share(placement, 1, {}) == Nodes{&more, &small});
}
