// SPDX-License-Identifier: MIT
// Runs drawn by chance: agents that fail, stall, leave, join late, stop working and are asked to end.
#include <catch2/catch.hpp>

#include <map>

#include "random_numbers.hpp"
#include "run/agent/coordinator_play.hpp"

using namespace hpcml::testing;
using hpcml::test::chance;
using hpcml::test::pick;

TEST_CASE("a run ends for every agent after random events") {
  std::mt19937 random(20261125);
  for (int round = 0; round < 2000; ++round) {
    const auto nodes = pick(random, 1, 4);
    const auto least = pick(random, 1, nodes);
    auto some = rules(least, nodes, pick(random, 0, 2));
    some.heartbeat = {seconds(5), seconds(30)};
    Play play(some);
    std::map<AgentId, bool> joined;
    std::map<AgentId, int> ends;
    std::set<AgentId> silent;
    for (unsigned node = 0; node < nodes; ++node) joined[node] = play.come(node, node).refused.empty();
    std::map<AgentId, unsigned> attempt;
    bool over = false;
    AgentId known = nodes; // the next that may join late
    for (int step = 0; step < 400 && !over; ++step) {
      play.pass(seconds(step > 200 ? 60 : 1));
      for (AgentId node = 0; node < known; ++node) {
        if (!joined[node]) continue;
        for (const auto& command : play.take(node)) {
          if (const auto* serve = std::get_if<ServeCommand>(&command.what)) play.serving(serve->attempt);
          if (const auto* start = std::get_if<StartCommand>(&command.what)) attempt[node] = start->attempt;
          if (const auto* stop = std::get_if<StopCommand>(&command.what)) {
            attempt[node] = stop->attempt;
            play.ended(node, stop->attempt, false);
          }
          if (std::holds_alternative<ReadStacksCommand>(command.what))
            play.send(node, StacksEvent{}, attempt[node]);
          if (!std::holds_alternative<EndCommand>(command.what) &&
              !std::holds_alternative<LostCommand>(command.what))
            continue;
          ++ends[node];
          joined[node] = false;
          play.lose(node);
        }
        if (!joined[node]) continue;
        const auto what = pick(random, 0, step > 200 ? 2 : 11);
        if (what == 0) play.failed(node, attempt[node], static_cast<unsigned>(node), 1);
        if (what == 1) play.ended(node, attempt[node], true);
        if (what == 2 && step > 100) play.leaves(node, 15);
        if (what == 3 && node > 0 && chance(random, 10)) joined[node] = false, play.lose(node);
        if (what == 4) play.send(node, QuietEvent{true}, attempt[node]);
        if (what == 5 && chance(random, 5)) joined[node] = false, silent.insert(node), play.silence(node);
        if (what == 6 && chance(random, 2)) play.pause(seconds(40));
      }
      if (step < 100 && known < nodes + 2 && chance(random, 30)) {
        joined[known] = play.come(known).refused.empty();
        ++known;
      }
      over = true;
      for (const auto& [node, is_joined] : joined) over = over && !is_joined;
    }
    CAPTURE(round, nodes, least);
    REQUIRE(over);
    for (const auto& [node, count] : ends) REQUIRE(count == 1);
    if (silent.count(0) == 0) REQUIRE(ends[0] == 1);
    // The coordinator itself has come to the end, unless an agent is left that does not respond.
    if (silent.empty()) CHECK(play.coordinator().is_over());
  }
}
