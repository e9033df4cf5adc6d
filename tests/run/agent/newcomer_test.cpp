// SPDX-License-Identifier: MIT
// Nodes that join a run with MIN:MAX nodes after its start: the coordinator alone, and agents as processes.
#include <catch2/catch.hpp>

#include "free_port.hpp"
#include "run/agent/agent_helper.hpp"
#include "run/agent/coordinator_play.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// A run of MIN:MAX nodes that starts with the first `nodes` of them.
void begin_with(Play& play, unsigned nodes) {
  for (unsigned node = 0; node < nodes; ++node) CHECK(play.come(node, node).refused.empty());
  play.pass(seconds(31));
  play.only<ServeCommand>(0);
  play.serving(0);
  for (unsigned node = 0; node < nodes; ++node) play.only<StartCommand>(node);
}

} // namespace

TEST_CASE("coordinator restarts all ranks when nodes join") {
  Play play(rules(1, 3));
  begin_with(play, 1);
  play.pass(seconds(100));
  CHECK(play.take(0).empty());
  play.come(1, 1);
  play.come(2, 2);
  play.pass(seconds(1));
  const auto stop = play.only<StopCommand>(0);
  CHECK(stop.restarts_all);
  CHECK(stop.reason == "node1, node2 joined");
  play.ended(0, 0, false);
  const auto serve = play.only<ServeCommand>(0);
  CHECK(serve.restarts == 0);
  CHECK(serve.world == std::vector<NodeMember>{{"node0", 2}, {"node1", 2}, {"node2", 2}});
  play.serving(1);
  for (unsigned node = 0; node < 3; ++node) play.only<StartCommand>(node);
  play.pass(seconds(100));
  CHECK(play.take(0).empty()); // once
}

TEST_CASE("coordinator does not restart ranks for a node beyond MAX") {
  Play play(rules(1, 2));
  begin_with(play, 2);
  play.come(2, 2);
  play.pass(seconds(100));
  CHECK(play.take(0).empty());
  CHECK_THAT(play.coordinator().take_messages().front(), Contains("node2 joined"));
}

TEST_CASE("coordinator does not restart a run that ends") {
  Play play(rules(1, 3));
  begin_with(play, 2);
  play.ended(1, 0, true);
  play.come(2, 2);
  play.pass(seconds(100));
  CHECK(play.take(0).empty());
  play.ended(0, 0, true);
  const auto end = play.only<EndCommand>(2);
  CHECK(end.code == 0);
}

TEST_CASE("a run fails when nodes are lost while one joins") {
  Play play(rules(2, 3));
  begin_with(play, 2);
  play.come(2, 2);
  play.pass(seconds(1));
  CHECK(play.only<StopCommand>(0).restarts_all);
  play.lose(1), play.lose(2); // too few are left
  play.ended(0, 0, false);
  const auto end = play.only<EndCommand>(0);
  CHECK(end.code == 1);
}

TEST_CASE("ranks restart in a larger world when an agent joins") {
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 1,
                          "echo world $WORLD_SIZE restart $TORCHELASTIC_RESTART_COUNT; "
                          "test $WORLD_SIZE = 2 && exit 0; exec sleep 300",
                          2);
  request.min_nodes = 1;
  request.place->extra_nodes_timeout = seconds(1);
  request.place->node_rank = 0;
  AgentProcess first(request, "node0");
  REQUIRE(first.shows("world 1"));
  request.place->node_rank = 1;
  AgentProcess second(request, "node1");
  for (auto* agent : {&first, &second}) {
    const auto end = agent->wait();
    CAPTURE(end.out, end.err);
    CHECK(end.code == 0);
    CHECK_THAT(end.out, Contains("world 2 restart 0"));
    if (agent == &first) CHECK_THAT(end.err, Contains("node1 joined") && Contains("all ranks are restarted"));
  }
}
