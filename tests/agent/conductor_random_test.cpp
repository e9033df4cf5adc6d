// SPDX-License-Identifier: MIT
// Runs drawn by chance: agents that fail, stall, go and are asked to end.
#include <catch2/catch.hpp>

#include <map>

#include "agent/conductor_play.hpp"
#include "random_numbers.hpp"

using namespace hpcml::testing;
using hpcml::test::chance;
using hpcml::test::pick;

TEST_CASE("whatever agents say in whatever order, a run comes to an end and every agent hears of it") {
  std::mt19937 random(20261125);
  for (int round = 0; round < 2000; ++round) {
    const auto nodes = pick(random, 1, 4);
    const auto least = pick(random, 1, nodes);
    Play play(rules(least, nodes, pick(random, 0, 2)));
    std::map<AgentId, bool> here;
    std::map<AgentId, int> ends;
    for (unsigned node = 0; node < nodes; ++node) here[node] = play.come(node, node).refused.empty();
    std::map<AgentId, unsigned> attempt;
    bool over = false;
    for (int step = 0; step < 400 && !over; ++step) {
      play.pass(seconds(step > 200 ? 60 : 1));
      for (unsigned node = 0; node < nodes; ++node) {
        if (!here[node]) continue;
        for (const auto& order : play.take(node)) {
          attempt[node] = order.attempt;
          if (order.kind == Order::Kind::serve) play.serving(order.attempt);
          if (order.kind == Order::Kind::stop) play.ended(node, order.attempt, false);
          if (order.kind == Order::Kind::look) play.say(node, Event::Kind::looked, order.attempt);
          if (order.kind != Order::Kind::end) continue;
          ++ends[node];
          here[node] = false;
          play.lose(node);
        }
        if (!here[node]) continue;
        const auto what = pick(random, 0, step > 200 ? 2 : 11);
        if (what == 0) play.failed(node, attempt[node], node, 1);
        if (what == 1) play.ended(node, attempt[node], true);
        if (what == 2 && step > 100) play.leaves(node, 15);
        if (what == 3 && node > 0 && chance(random, 10)) here[node] = false, play.lose(node);
        if (what == 4) play.say(node, Event::Kind::quiet, attempt[node]);
      }
      over = true;
      for (const auto& [node, is_here] : here) over = over && !is_here;
    }
    CAPTURE(round, nodes, least);
    REQUIRE(over);
    for (const auto& [node, count] : ends) REQUIRE(count == 1);
    REQUIRE(ends[0] == 1);
  }
}
