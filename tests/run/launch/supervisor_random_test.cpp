// SPDX-License-Identifier: MIT
// Launches in memory whose programs and signals are drawn by chance: each ends, and leaves nothing behind.
#include <catch2/catch.hpp>

#include <algorithm>

#include "random_numbers.hpp"
#include "run/launch/launch_play.hpp"

using namespace hpcml;
using namespace hpcml::testing;

namespace {

const char* draw(std::mt19937& random, const std::vector<const char*>& choices) {
  return choices[test::pick(random, 0, static_cast<unsigned>(choices.size()) - 1)];
}

std::string draw_program(std::mt19937& random) {
  std::string program;
  for (unsigned steps = test::pick(random, 0, 4); steps > 0; --steps)
    program += draw(random, {"300 ms; ", "2 s; ", "40 s; ", "out line; ", "part word; ", "start 0; ",
                             "start 1; ", "leave 0; ", "leave 2; ", "fork; "});
  program += draw(random, {"exit 0", "exit 0", "exit 3", "die SEGV", "die TERM", "wait", ""});
  program +=
      draw(random, {"", "| TERM: ignore", "| TERM: 1 s; exit 0", "| TERM: 50 s; exit 5", "| TERM: die KILL"});
  program += draw(random, {"", "| USR2: 2 s; exit 0", "| USR1: out got"});
  return program;
}

} // namespace

TEST_CASE("launches end and leave nothing of failed ranks") {
  std::mt19937 random(20261201);
  unsigned failed = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> programs;
    for (unsigned ranks = test::pick(random, 1, 4); ranks > 0; --ranks)
      programs.push_back(draw_program(random));
    LaunchPlay play(programs);
    play.system.helpers = {"| TERM: ignore", "3 s; exit 0 | TERM: 2 s; exit 0", "start 1; exit 0"};
    std::string events;
    for (unsigned signals = test::pick(random, 0, 3); signals > 0; --signals) {
      const auto* name = draw(random, {"TERM", "INT", "USR1", "HUP", "URG", "CONT", "WINCH"});
      const double seconds = test::pick(random, 0, 80) / 10.0;
      events += std::string(name) + " at " + std::to_string(seconds) + " ";
      play.system.signal_after(seconds, name);
    }
    for (const double seconds : {100.0, 101.0}) play.system.signal_after(seconds, "TERM"); // at the latest
    if (test::chance(random, 20)) play.context.env.set("HPCML_SAVE_SIGNAL", "USR2");
    if (test::chance(random, 20)) play.context.env.set("SLURM_JOB_ID", "7");
    CAPTURE(round, util::join(programs, "  "), events);
    const int code = play.run();
    REQUIRE(play.system.seconds() < 240);
    REQUIRE(play.system.executed().size() == programs.size());
    if (code != 0) REQUIRE(play.system.left().empty());
    REQUIRE(code != k_cannot_set_up);
    failed += code != 0 ? 1 : 0;
  }
  CHECK(failed > 500);
}
