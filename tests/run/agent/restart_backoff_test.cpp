// SPDX-License-Identifier: MIT
// Pauses between restarts of ranks that fail again soon after their start.
#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <map>

#include "holds.hpp"
#include "run/agent/agent_helper.hpp"
#include "run/agent/coordinator_play.hpp"
#include "run/agent/failure_report.hpp"
#include "run/agent/restart_backoff.hpp"
#include "run/agent/stop_messages.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// The only node's ranks fail after they ran for `duration`; returns what its agent is ordered then.
StopCommand fail(Play& play, unsigned attempt, seconds duration = seconds(0)) {
  play.pass(duration);
  play.failed(0, attempt, 0, 1);
  const auto stop = play.only<StopCommand>(0);
  play.ended(0, attempt, false);
  return stop;
}

/// Seconds that pass until the next attempt begins, at most a minute.
unsigned wait_for_restart(Play& play, unsigned attempt) {
  for (unsigned passed = 0; passed < 60; ++passed) {
    if (play.has_commands(0)) {
      CHECK(play.only<ServeCommand>(0).attempt == attempt);
      play.serving(attempt);
      play.only<StartCommand>(0);
      return passed;
    }
    play.pass(seconds(1));
  }
  return 60;
}

} // namespace

TEST_CASE("restart pauses double and begin again after a long run") {
  RestartBackoff backoff;
  for (const int pause : {0, 1, 2, 4, 8, 16, 30, 30}) CHECK(backoff.next(seconds(1)).count() == pause);
  CHECK(backoff.next(RestartBackoff::k_long_run).count() == 0);
  CHECK(backoff.next(seconds(59)).count() == 1);
}

TEST_CASE("ranks that fail again at once restart after increasing pauses") {
  Play play(rules(1, 1, 200));
  begin(play, 1);
  unsigned attempt = 0;
  for (const unsigned pause : {0U, 1U, 2U, 4U, 8U, 16U, 30U, 30U}) {
    CHECK(fail(play, attempt, seconds(1)).pause.count() == pause);
    CHECK(wait_for_restart(play, ++attempt) == pause);
  }
  CHECK(fail(play, attempt, seconds(100)).pause.count() == 0);
  CHECK(wait_for_restart(play, ++attempt) == 0);
}

TEST_CASE("a restart report includes the pause") {
  StopCommand stop;
  stop.restarts = 3;
  stop.restarts_all = true;
  stop.pause = seconds(2);
  stop.failure = failures::RankFailure{};
  CHECK_THAT(render_stop(stop, 200, 2).back(),
             Contains("all ranks are restarted after a pause of 2 s (restart 3 of 200)"));
  const auto unpacked = store::unpack_message<AgentCommand>(store::pack_message(AgentCommand{stop}));
  REQUIRE(unpacked);
  CHECK(std::get<StopCommand>(unpacked->what).pause == seconds(2));
  stop.failure.reset();
  stop.reason = "the agent of node1 disconnected";
  CHECK(render_stop(stop, 200, 2).back() == "all ranks are restarted after a pause of 2 s");
  stop.pause = seconds(0);
  CHECK(render_stop(stop, 200, 2).back() == "all ranks are restarted");
}

TEST_CASE("nodes that are lost repeatedly restart the others after pauses") {
  auto elastic = rules(1, 2);
  elastic.nodes_return = true;
  Play play(elastic);
  begin(play, 2);
  for (unsigned attempt = 0; attempt < 3; ++attempt) {
    play.lose(attempt + 1);
    const auto stop = play.only<StopCommand>(0);
    CHECK(stop.restarts_all);
    CHECK(stop.pause.count() == (attempt == 0 ? 0 : attempt));
    play.come(attempt + 2, 1);
    play.ended(0, attempt, false);
    play.pass(stop.pause);
    play.only<ServeCommand>(0);
    play.serving(attempt + 1);
    play.only<StartCommand>(0);
    play.only<StartCommand>(attempt + 2);
  }
}

TEST_CASE("a node that joins restarts the ranks without a pause") {
  Play play(rules(1, 3, 5));
  play.come(0, 0);
  play.pass(seconds(30));
  play.only<ServeCommand>(0);
  play.serving(0);
  play.only<StartCommand>(0);
  for (unsigned node = 1; node < 3; ++node) {
    play.come(node, node);
    play.pass(seconds(1));
    const auto stop = play.only<StopCommand>(0);
    CHECK(stop.restarts_all);
    CHECK(stop.pause.count() == 0);
    for (unsigned old = 0; old < node; ++old) play.ended(old, node - 1, false);
    play.only<ServeCommand>(0);
    play.serving(node);
    for (unsigned all = 0; all <= node; ++all) play.take(all);
  }
}

TEST_CASE("a lost node during a restart pause ends the run") {
  Play play(rules(2, 2, 9));
  begin(play, 2);
  for (unsigned attempt = 0; attempt < 2; ++attempt) {
    play.failed(1, attempt, 2, 7);
    for (unsigned node = 0; node < 2; ++node) play.take(node), play.ended(node, attempt, false);
    if (attempt > 0) break;
    play.take(0);
    play.serving(1);
    for (unsigned node = 0; node < 2; ++node) play.take(node);
  }
  CHECK(play.take(0).empty()); // the second restart waits
  play.lose(1);
  const auto end = play.only<EndCommand>(0);
  CHECK(end.code == k_nodes_missing);
  CHECK(end.reason == "the agent of node1 disconnected: it or its node stopped");
  CHECK_FALSE(end.failure); // it was reported, and another reason ends the run
}

TEST_CASE("a signal to an agent during a pause ends it") {
  Play play(rules(1, 1, 9));
  begin(play, 1);
  fail(play, 0);
  CHECK(wait_for_restart(play, 1) == 0);
  fail(play, 1);
  play.leaves(0, SIGTERM);
  const auto end = play.only<EndCommand>(0);
  CHECK(end.code == 128 + SIGTERM);
}

TEST_CASE("an agent pauses between restarts and ends by a signal") {
  const auto begin = std::chrono::steady_clock::now();
  auto request = agent_of(1, "echo up $TORCHELASTIC_RESTART_COUNT; exit 1");
  request.max_restarts = 200;
  AgentProcess agent(request);
  REQUIRE(agent.shows("up 3")); // after pauses of 0, 1 and 2 s
  CHECK(std::chrono::steady_clock::now() - begin >= seconds(3));
  ::kill(agent.pid(), SIGTERM); // within the pause of 4 s
  const auto end = agent.wait();
  CAPTURE(end.out, end.err);
  CHECK(std::chrono::steady_clock::now() - begin < seconds(60));
  CHECK(end.code == 128 + SIGTERM);
  CHECK_FALSE(test::holds(end.out, "up 4"));
  CHECK_THAT(end.err, Contains("restarted (restart 1 of 200)") &&
                          Contains("restarted after a pause of 1 s (restart 2 of 200)") &&
                          Contains("restarted after a pause of 2 s (restart 3 of 200)"));
}
