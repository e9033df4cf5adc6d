// SPDX-License-Identifier: MIT
// The conductor alone: who starts when, who failed first, what is started again, how a run ends.
#include <catch2/catch.hpp>

#include <csignal>

#include "run/agent/coordinator_play.hpp"

using namespace hpcml::agent;
using namespace hpcml::testing;
using Catch::Contains;
using std::chrono::seconds;

TEST_CASE("ranks start once every node has come and the first one serves") {
  Play play(rules(3, 3));
  CHECK(play.come(2, 2, 4).refused.empty());
  CHECK(play.come(0, 0, 1).refused.empty());
  CHECK(play.take(0).empty());
  CHECK(play.come(1, 1, 2).refused.empty());
  const auto serve = play.only<ServeCommand>(0);
  CHECK(serve.world == std::vector<NodeMember>{{"node0", 1}, {"node1", 2}, {"node2", 4}});
  CHECK(play.take(1).empty());
  play.serving(0);
  for (unsigned node = 0; node < 3; ++node) {
    const auto start = play.only<StartCommand>(node);
    CHECK(start.node_rank == node);
    CHECK(start.world == serve.world);
    CHECK(start.place == "host:1000");
  }
}

TEST_CASE("a run whose ranks all end well ends with 0, the first node last") {
  Play play(rules(2, 2));
  begin(play, 2);
  play.ended(0, 0, true);
  CHECK(play.take(0).empty());
  play.ended(1, 0, true);
  const auto end = play.only<EndCommand>(1);
  CHECK(end.code == 0);
  CHECK(play.take(0).empty());
  play.lose(1);
  play.only<EndCommand>(0);
  CHECK(play.coordinator().is_over());
}

TEST_CASE("the failure that comes first is the one that all hear of, and its code is the run's") {
  Play play(rules(3, 3));
  begin(play, 3);
  play.failed(2, 0, 5, 7);
  play.failed(1, 0, 3, 9);
  for (unsigned node = 0; node < 3; ++node) {
    const auto stop = play.only<StopCommand>(node);
    CHECK_FALSE(stop.restarts_all);
    REQUIRE(stop.failure);
    CHECK(stop.failure->rank == 5);
    CHECK(stop.code == 7);
  }
  for (unsigned node = 0; node < 3; ++node) play.ended(node, 0, false);
  CHECK(play.only<EndCommand>(1).code == 7);
  CHECK(play.only<EndCommand>(2).code == 7);
  play.lose(1);
  play.lose(2);
  CHECK(play.only<EndCommand>(0).code == 7);
}

TEST_CASE("all ranks start again as often as is allowed, once none is left, at a store of their own") {
  Play play(rules(2, 2, 2));
  begin(play, 2);
  for (unsigned attempt = 0; attempt < 2; ++attempt) {
    play.failed(1, attempt, 2, 1);
    for (unsigned node = 0; node < 2; ++node) {
      const auto stop = play.only<StopCommand>(node);
      CHECK(stop.restarts_all);
    }
    play.ended(1, attempt, false);
    CHECK(play.take(0).empty());
    play.ended(0, attempt, false);
    if (attempt > 0) play.pass(RestartBackoff::k_first_pause);
    play.only<ServeCommand>(0);
    play.serving(attempt + 1);
    for (unsigned node = 0; node < 2; ++node) {
      const auto start = play.only<StartCommand>(node);
      CHECK(start.attempt == attempt + 1);
      CHECK(start.restarts == attempt + 1);
      CHECK(start.place == "host:" + std::to_string(1001 + attempt));
    }
  }
  play.failed(0, 2, 0, 3);
  CHECK_FALSE(play.only<StopCommand>(0).restarts_all);
  CHECK(play.only<StopCommand>(1).code == 3);
}

TEST_CASE("what an agent says of an attempt that is over changes nothing") {
  Play play(rules(2, 2, 1));
  begin(play, 2);
  play.failed(1, 0, 2, 1);
  play.ended(0, 0, false);
  play.ended(1, 0, false);
  play.serving(1);
  play.take(0), play.take(1);
  play.failed(1, 0, 2, 1);
  play.ended(1, 0, true);
  play.serving(0);
  CHECK(play.take(0).empty());
  CHECK(play.take(1).empty());
}

TEST_CASE("a node that goes ends a run that needs all of its nodes") {
  Play play(rules(2, 2, 5));
  begin(play, 2);
  play.lose(1);
  const auto stop = play.only<StopCommand>(0);
  CHECK_FALSE(stop.restarts_all);
  CHECK(stop.reason == "the agent of node1 disconnected: it or its node stopped");
  play.ended(0, 0, false);
  const auto end = play.only<EndCommand>(0);
  CHECK(end.code != 0);
}

TEST_CASE("with MIN:MAX the others go on without a node that goes, and count no restart for it") {
  Play play(rules(2, 3, 1));
  for (unsigned node = 0; node < 3; ++node) play.come(node, node);
  play.serving(0);
  for (unsigned node = 0; node < 3; ++node) play.take(node);
  play.lose(1);
  CHECK(play.only<StopCommand>(0).restarts_all);
  CHECK(play.only<StopCommand>(2).restarts_all);
  play.ended(0, 0, false);
  play.ended(2, 0, false);
  const auto serve = play.only<ServeCommand>(0);
  CHECK(serve.restarts == 0);
  CHECK(serve.world == std::vector<NodeMember>{{"node0", 2}, {"node2", 2}});
  play.serving(1);
  CHECK(play.only<StartCommand>(2).node_rank == 1);

  SECTION("all ranks restart when a node returns") {
    play.take(0);
    CHECK(play.come(7, 1).refused.empty());
    play.pass(seconds(1));
    CHECK(play.take(7).empty());
    const auto stop = play.only<StopCommand>(0);
    CHECK(stop.restarts_all);
    CHECK(stop.reason == "node7 joined");
    play.ended(0, 1, false);
    play.ended(2, 1, false);
    const auto again = play.last<ServeCommand>(0);
    CHECK(again.restarts == 0);
    CHECK(again.world == std::vector<NodeMember>{{"node0", 2}, {"node7", 2}, {"node2", 2}});
  }
  SECTION("too few are no run") {
    play.take(0);
    play.lose(2);
    CHECK_FALSE(play.only<StopCommand>(0).restarts_all);
    play.ended(0, 1, false);
    play.only<EndCommand>(0);
  }
}

TEST_CASE("with MIN:MAX more nodes are waited for a while once the least number has come") {
  Play play(rules(1, 3));
  play.come(0);
  play.pass(seconds(10));
  CHECK(play.take(0).empty());
  play.come(5);
  play.pass(seconds(25));
  CHECK(play.only<ServeCommand>(0).world.size() == 2);
}

TEST_CASE("coordinator names missing nodes when too few join") {
  auto with_hosts = rules(5, 5);
  with_hosts.hosts = {"node0", "node1", "node2", "node3", "node4"};
  Play play(with_hosts);
  play.come(0);
  play.come(4);
  play.pass(seconds(30));
  const auto words = play.coordinator().take_messages();
  REQUIRE(words.size() == 1);
  CHECK_THAT(words.front(), Contains("3 of 5 nodes have not joined after 20 s: node[1-3]"));
  CHECK_THAT(words.front(), !Contains("node0") && !Contains("node4"));
  play.pass(seconds(600));
  const auto end = play.only<EndCommand>(4);
  CHECK(end.code == 1);
  CHECK(end.reason == "3 of 5 nodes have not joined within 600 s: node[1-3]");
}

TEST_CASE("coordinator names missing nodes by their numbers, or counts them") {
  const bool numbered = GENERATE(true, false);
  Play play(rules(4, 4));
  for (const unsigned node : {0U, 2U}) numbered ? play.come(node, node) : play.come(node);
  play.pass(seconds(30));
  const auto words = play.coordinator().take_messages();
  REQUIRE(words.size() == 1);
  CHECK_THAT(words.front(), Contains("2 of 4 nodes have not joined after 20 s"));
  CHECK(words.front().ends_with(": nodes 1,3") == numbered);
}

TEST_CASE(
    "agents of another job or run are sent on, one too many and a second of the same number are refused") {
  Play play(rules(2, 2));
  auto& coordinator = play.coordinator();
  CHECK(coordinator.register_agent(9, {"other", "run", "x", {}, 1, false}, {}).again);
  CHECK(coordinator.register_agent(9, {"job", "other", "x", {}, 1, false}, {}).again);
  CHECK(play.come(1, 1).refused.empty());
  const auto twice = play.come(2, 1);
  CHECK_THAT(twice.refused, Contains("already has node 1: node1"));
  CHECK_FALSE(twice.again);
  CHECK(play.come(0, 0).refused.empty());
  CHECK_THAT(play.come(3, 3).refused, Contains("already has all 2 nodes"));
}

TEST_CASE("a signal to one agent ends the run with it, the first node's as well") {
  const auto leaver = GENERATE(0U, 1U);
  Play play(rules(2, 2, 3));
  begin(play, 2);
  play.leaves(leaver, 15);
  const unsigned remaining = 1 - leaver;
  const auto stop = play.only<StopCommand>(remaining);
  CHECK_THAT(stop.reason, Contains("node" + std::to_string(leaver)) && Contains("SIGTERM"));
  play.ended(remaining, 0, false);
  play.ended(leaver, 0, false);
  play.lose(1);
  for (const unsigned node : {0U, 1U}) CHECK(play.last<EndCommand>(node).code == 143);
}

TEST_CASE(
    "a run that ends since a node has gone ends for that, though the first agent is asked to end then") {
  Play play(rules(2, 2));
  begin(play, 2);
  play.lose(1);
  const auto stop = play.only<StopCommand>(0);
  play.leaves(0, 15);
  const auto end = play.only<EndCommand>(0);
  CHECK(end.code == stop.code);
  CHECK(end.code != 143);
}

TEST_CASE("ranks that stall everywhere are looked at, then stopped as if one had failed") {
  auto some = rules(2, 2, 1);
  some.stall_timeout = "60 s";
  Play play(some);
  begin(play, 2);
  play.send(0, QuietEvent{true}, 0);
  CHECK(play.take(0).empty());
  play.send(0, QuietEvent{false}, 0);
  play.send(1, QuietEvent{true}, 0);
  CHECK(play.take(1).empty());
  play.send(0, QuietEvent{true}, 0);
  play.only<ReadStacksCommand>(0);
  play.only<ReadStacksCommand>(1);
  play.send(1, StacksEvent{}, 0);
  CHECK(play.take(1).empty());
  play.send(0, StacksEvent{}, 0);
  const auto stop = play.only<StopCommand>(0);
  CHECK(stop.restarts_all);
  CHECK_THAT(stop.reason, Contains("60 s"));
  CHECK(stop.code == 124);
}

TEST_CASE("the leader hears whose agents died, and of none that went after somebody was asked to end") {
  Play play(rules(3, 3));
  begin(play, 3);
  play.lose(2);
  for (unsigned node = 0; node < 2; ++node) play.ended(node, 0, false);
  play.lose(1);
  CHECK(play.last<EndCommand>(0).lost == std::vector<std::string>{"node2"});
  Play asking_play(rules(3, 3));
  begin(asking_play, 3);
  asking_play.leaves(1, SIGTERM);
  asking_play.pass(std::chrono::seconds(5)); // Slurm kills those that still run
  asking_play.lose(2);
  asking_play.ended(0, 0, false);
  CHECK(asking_play.last<EndCommand>(0).lost.empty());
  Play done(rules(2, 2));
  begin(done, 2);
  done.ended(1, 0, true);
  done.lose(1);
  done.ended(0, 0, true);
  CHECK(done.last<EndCommand>(0).lost.empty());
}

TEST_CASE("a lost agent is named although srun ends the others") {
  Play play(rules(3, 3));
  begin(play, 3);
  play.leaves(0, SIGTERM); // of srun, because the agent of node2 was killed
  play.lose(2);
  for (unsigned node = 0; node < 2; ++node) play.ended(node, 0, false);
  play.lose(1);
  const auto end = play.last<EndCommand>(0);
  CHECK(end.lost == std::vector<std::string>{"node2"});
  CHECK(end.code == 128 + SIGTERM);
}

TEST_CASE("agents that disconnect after the end cause no command") {
  Play play(rules(2, 2));
  begin(play, 2);
  for (unsigned node = 0; node < 2; ++node) play.ended(node, 0, true);
  play.pass(std::chrono::minutes(5)); // the agent of node1 is not waited for
  play.last<EndCommand>(0);
  play.lose(1);
  CHECK_FALSE(play.has_commands(0));
  CHECK(play.coordinator().is_over());
}

TEST_CASE("where the agents of all other nodes die, no node of them is to blame") {
  Play play(rules(3, 3));
  begin(play, 3);
  play.lose(2);
  play.lose(1);
  play.ended(0, 0, false);
  const auto end = play.last<EndCommand>(0);
  CHECK(end.lost.empty());
}

TEST_CASE("a run that goes on with fewer nodes tells of the lost one at its next start, once") {
  Play play(rules(2, 3));
  begin(play, 3);
  play.lose(2);
  for (unsigned node = 0; node < 2; ++node) play.ended(node, 0, false);
  const auto serve = play.last<ServeCommand>(0);
  CHECK(serve.lost == std::vector<std::string>{"node2"});
  play.serving(1);
  for (unsigned node = 0; node < 2; ++node) play.ended(node, 1, true);
  play.lose(1);
  CHECK(play.last<EndCommand>(0).lost.empty());
}
