// SPDX-License-Identifier: MIT
// The caches of a node as its ranks see them.
#include <catch2/catch.hpp>

#include "run/resolve/rank_setup.hpp"

using namespace hpcml;

TEST_CASE("Every rank of a node has the variables of its caches, and what is set already stays") {
  launch::NodeSetup node;
  node.world.layout.nodes = {"here"};
  node.world.layout.tasks_per_node = {2};
  node.world.layout.world_size = node.world.layout.local_world_size = 2;
  node.plan.caches = {{"miopen", "/tmp", {{"MIOPEN_A", ""}, {"MIOPEN_B", "below"}}, {}},
                      {"other", "/tmp", {{"OTHER", "."}}, {}}};
  node.cache_paths = {"/tmp/miopen-job1", "/tmp/other-job1"};
  node.env.set("OTHER", "mine");
  const auto shared = std::make_shared<const launch::NodeSetup>(std::move(node));
  for (const unsigned local : {0U, 1U}) {
    const auto setup = launch::make_rank_setup({}, shared, local);
    CHECK(setup.env.get("MIOPEN_A") == "/tmp/miopen-job1");
    CHECK(setup.env.get("MIOPEN_B") == "/tmp/miopen-job1/below");
    CHECK(setup.env.get("OTHER") == "mine");
  }
}
