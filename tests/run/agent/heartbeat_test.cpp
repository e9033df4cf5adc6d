// SPDX-License-Identifier: MIT
// Heartbeats without processes: the agent's timer, the watchdog's, and the coordinator's decisions.
#include <catch2/catch.hpp>

#include "run/agent/agent_liveness_watchdog.hpp"
#include "run/agent/agent_watchdog_timer.hpp"
#include "run/agent/coordinator_play.hpp"
#include "run/agent/stall_watch.hpp"

using namespace hpcml::agent;
using namespace hpcml::testing;
using Catch::Contains;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr HeartbeatOptions k_usual{seconds(5), seconds(30)};

HeartbeatTimer::Time at(double time) {
  return HeartbeatTimer::Time(milliseconds(static_cast<long long>(time * 1000)));
}

CoordinatorOptions with_heartbeats(unsigned min, unsigned max, unsigned restarts = 0) {
  auto made = rules(min, max, restarts);
  made.heartbeat = k_usual;
  return made;
}

} // namespace

TEST_CASE("heartbeat timer sends at once and then each interval") {
  HeartbeatTimer timer(k_usual, at(100));
  CHECK(timer.due() == at(100));
  CHECK(timer.is_due(at(100)));
  CHECK_FALSE(timer.is_due(at(104.9)));
  CHECK(timer.is_due(at(105)));
  CHECK(timer.due() == at(110));
}

TEST_CASE("heartbeat timer is overdue when the coordinator is silent") {
  HeartbeatTimer timer(k_usual, at(0));
  for (double time = 0; time < 20; time += 5) CHECK(timer.is_due(at(time)));
  timer.on_answer(at(17));
  for (double time = 20; time <= 45; time += 5) timer.is_due(at(time));
  CHECK(timer.due() == at(47)); // not as late as the next heartbeat
  CHECK_FALSE(timer.is_overdue(at(46.9)));
  CHECK(timer.is_overdue(at(47)));
  CHECK(timer.due(false) == at(50));
}

TEST_CASE("heartbeat timer restarts the coordinator's timeout after a pause") {
  HeartbeatTimer timer(k_usual, at(0));
  timer.is_due(at(0));
  timer.on_answer(at(0));
  CHECK(timer.is_due(at(65)));
  CHECK_FALSE(timer.is_overdue(at(65)));
  CHECK(timer.was_away());
  for (double time = 70; time < 95; time += 5) timer.is_due(at(time));
  CHECK_FALSE(timer.is_overdue(at(94.9)));
  CHECK(timer.is_overdue(at(95)));
}

TEST_CASE("heartbeat timer is not away after a short pause") {
  HeartbeatTimer timer(k_usual, at(0));
  timer.is_due(at(0));
  timer.is_due(at(20));
  CHECK_FALSE(timer.was_away());
}

TEST_CASE("heartbeat timer without a timeout is never overdue") {
  HeartbeatTimer timer({seconds(5), seconds(0)}, at(0));
  CHECK(timer.is_due(at(0)));
  CHECK(timer.is_due(at(5)));
  CHECK_FALSE(timer.is_overdue(at(100000)));
  CHECK(timer.due() == at(10));
}

TEST_CASE("watchdog reports a silent agent and then kills it") {
  AgentWatchdogTimer timer(k_usual, at(0));
  std::map<AgentWatchdogTimer::Action, double> first;
  for (double time = 1; time < 60 && !first.count(AgentWatchdogTimer::Action::kill); ++time)
    first.emplace(timer.on_turn(at(time)), time);
  CHECK(first[AgentWatchdogTimer::Action::report] == 28);
  CHECK(first[AgentWatchdogTimer::Action::kill] == 33);
}

TEST_CASE("watchdog spares agents that work, wait or were paused") {
  AgentWatchdogTimer timer(k_usual, at(0));
  double time = 0;
  const auto pass = [&](double until) {
    for (; time < until; ++time) CHECK(timer.on_turn(at(time)) == AgentWatchdogTimer::Action::none);
  };
  pass(20);
  timer.on_heartbeat(at(time));
  pass(45);
  timer.pause();
  pass(200);
  timer.on_heartbeat(at(time));
  pass(220);
  time += 60; // neither of them ran
  pass(300);
}

TEST_CASE("stall watch restarts its time after a pause") {
  StallWatch watch(seconds(20), at(0));
  for (double time = 0; time < 10; ++time) CHECK_FALSE(watch.look(at(time)));
  CHECK_FALSE(watch.look(at(70)));
  for (double time = 71; time < 90; ++time) CHECK_FALSE(watch.look(at(time)));
  CHECK(watch.look(at(90)) == QuietEvent{true});
}

TEST_CASE("coordinator answers heartbeats and removes a silent agent") {
  Play play(with_heartbeats(4, 4));
  begin(play, 4);
  play.pass(seconds(100));
  for (unsigned node = 0; node < 4; ++node) {
    CHECK(play.answers[node] > 0);
    CHECK(play.take(node).empty());
  }
  play.silence(2);
  play.pass(seconds(29));
  CHECK(play.take(0).empty());
  play.pass(seconds(2));
  play.only<LostCommand>(2);
  for (const unsigned node : {0U, 1U, 3U}) {
    const auto stop = play.only<StopCommand>(node);
    CHECK_FALSE(stop.restarts_all);
    CHECK(stop.is_reporter == (node == 0));
    CHECK(stop.reason == "no heartbeat from the agent of node2 (node 2 of 4) for 30 s: treated as lost");
    play.ended(node, 0, false);
  }
  for (const unsigned node : {1U, 3U}) {
    const auto end = play.only<EndCommand>(node);
    CHECK(end.code == 1);
    play.lose(node);
  }
  CHECK(play.only<EndCommand>(0).lost == std::vector<std::string>{"node2"});
  // What it sends when it works again changes nothing, nor does the end of its connection.
  play.send(2, Heartbeat{}, 0);
  play.ended(2, 0, true);
  play.lose(2);
  CHECK(play.take(0).empty());
}

TEST_CASE("other nodes continue without a silent one when elastic") {
  Play play(with_heartbeats(2, 3, 1));
  begin(play, 3);
  play.silence(1);
  play.pass(seconds(31));
  play.only<LostCommand>(1);
  CHECK(play.only<StopCommand>(0).restarts_all);
  play.ended(0, 0, false);
  play.ended(2, 0, false);
  const auto serve = play.only<ServeCommand>(0);
  CHECK(serve.restarts == 0);
  CHECK(serve.lost == std::vector<std::string>{"node1"});
  CHECK(serve.world == std::vector<NodeMember>{{"node0", 2}, {"node2", 2}});
}

TEST_CASE("a silent agent of the first node ends the run") {
  Play play(with_heartbeats(3, 3, 5));
  begin(play, 3);
  play.silence(0);
  play.pass(seconds(31));
  play.only<LostCommand>(0);
  for (const unsigned node : {1U, 2U}) {
    const auto end = play.only<EndCommand>(node);
    CHECK(end.is_reporter == (node == 1));
    CHECK(end.code == 1);
    CHECK_THAT(end.reason, Contains("no heartbeat from the agent of node0 (node 0 of 3)"));
  }
}

TEST_CASE("coordinator removes several silent agents") {
  Play play(with_heartbeats(4, 4));
  begin(play, 4);
  play.silence(1);
  play.silence(3);
  play.pass(seconds(31));
  for (const unsigned node : {1U, 3U}) play.last<LostCommand>(node);
  CHECK_THAT(play.only<StopCommand>(0).reason, Contains("node1"));
}

TEST_CASE("coordinator removes an agent silent before or after the run") {
  SECTION("before the start") {
    Play play(with_heartbeats(3, 3));
    play.come(0, 0);
    play.come(1, 1);
    play.silence(1);
    play.pass(seconds(31));
    play.only<LostCommand>(1);
    CHECK(play.come(7, 1).refused.empty()); // its place is free again
  }
  SECTION("while the ranks stop") {
    Play play(with_heartbeats(2, 2, 1));
    begin(play, 2);
    play.failed(0, 0, 0, 3);
    play.take(0), play.take(1);
    play.ended(0, 0, false);
    play.silence(1);
    play.pass(seconds(31));
    play.only<LostCommand>(1);
    const auto end = play.only<EndCommand>(0);
    CHECK(end.code == 3);
  }
}

TEST_CASE("a paused coordinator restarts its deadlines") {
  Play play(with_heartbeats(2, 2));
  begin(play, 2);
  play.pass(seconds(10));
  play.pause(seconds(60));
  CHECK(play.take(0).empty());
  CHECK(play.take(1).empty());
  const auto words = play.coordinator().take_messages();
  REQUIRE(words.size() == 1);
  CHECK_THAT(words.front(), Contains("paused for 60 s"));
  play.silence(1);
  play.pass(seconds(29));
  CHECK(play.take(0).empty());
  play.pass(seconds(2));
  play.only<StopCommand>(0);
}

TEST_CASE("a pause restarts the deadline for missing nodes") {
  Play play(with_heartbeats(2, 2));
  play.come(0, 0);
  play.pass(seconds(590));
  play.pause(seconds(60));
  play.pass(seconds(590));
  CHECK(play.take(0).empty());
  play.pass(seconds(20));
  play.only<EndCommand>(0);
}

TEST_CASE("an agent that reads stacks is not lost") {
  auto some = with_heartbeats(2, 2);
  some.stall_timeout = "60 s";
  Play play(some);
  begin(play, 2);
  for (const AgentId node : {0, 1}) play.send(node, QuietEvent{true}, 0);
  play.only<ReadStacksCommand>(1);
  play.send(0, StacksEvent{}, 0);
  play.silence(1);
  play.pass(seconds(45));
  CHECK(play.take(1).empty());
  play.send(1, StacksEvent{}, 0);
  play.only<StopCommand>(1);
}

TEST_CASE("without a heartbeat timeout no agent is treated as lost") {
  auto some = with_heartbeats(2, 2);
  some.heartbeat.timeout = seconds(0);
  Play play(some);
  begin(play, 2);
  play.silence(1);
  play.pass(seconds(3600));
  CHECK(play.take(0).empty());
}
