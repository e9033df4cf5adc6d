// SPDX-License-Identifier: MIT
// What a rank's program gets of the decision that all ranks share.
#include <catch2/catch.hpp>

#include "run/launch/planned_rank.hpp"
#include "run/launch/rendezvous_decision.hpp"

using namespace hpcml;

namespace {

launch::World world_of(bool agent) {
  launch::World world;
  world.address = "node1";
  world.layout.world_size = 2;
  world.layout.nodes = {"node1", "node2"};
  world.layout.tasks_per_node = {1, 1};
  if (agent) {
    launch::TorchelasticFacts facts;
    facts.restarts = 2;
    world.agent = facts;
  }
  return world;
}

launch::RankSetup apply(const launch::LaunchRequest& request, store::AgentStoreUse use, bool agent = false) {
  launch::NodeView node;
  node.cpus = model::make_regular_cpus(1, 4, 1, 1, 0);
  node.mask = node.cpus.all();
  auto setup = testing::planned_rank(request, world_of(agent), node, {});
  REQUIRE(setup);
  store::MasterEndpoint decision;
  decision.port = 29400;
  decision.agent_store = use;
  launch::apply_decision(*setup, request, decision, "node1:29400");
  return std::move(*setup);
}

} // namespace

TEST_CASE("a decision sets the variables of torch's store") {
  launch::LaunchRequest request;
  request.command = {"true"};
  const auto variable = [&](store::AgentStoreUse use, const char* name, bool agent = false) {
    return apply(request, use, agent).env.get_or(name, "unset");
  };
  const char* const k_use = "TORCHELASTIC_USE_AGENT_STORE";
  const char* const k_restarts = "TORCHELASTIC_RESTART_COUNT";
  CHECK(variable(store::AgentStoreUse::unset, k_use) == "unset");
  CHECK(variable(store::AgentStoreUse::unset, k_restarts) == "unset");
  CHECK(variable(store::AgentStoreUse::allowed, k_use) == "1");
  CHECK(variable(store::AgentStoreUse::allowed, k_restarts) == "unset");
  // torch before 2.7 reads the restart count if the agent's store is used: its keys have that prefix.
  CHECK(variable(store::AgentStoreUse::always, k_use) == "True");
  CHECK(variable(store::AgentStoreUse::always, k_restarts) == "0");
  // An agent counts the restarts itself.
  CHECK(variable(store::AgentStoreUse::always, k_use, true) == "True");
  CHECK(variable(store::AgentStoreUse::always, k_restarts, true) == "2");
  CHECK(apply(request, store::AgentStoreUse::always).env.get_or("MASTER_PORT", "") == "29400");
}
