// SPDX-License-Identifier: MIT
// A request to save on its way to the programs, in memory: through a task's launch, through launch with
// several ranks, and through shells between.
#include <catch2/catch.hpp>

#include "run/launch/launch_play.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// Saves at the first signal, and exits with 3.
constexpr const char* k_program =
    "| USR2: out saved USR2; 300 ms; exit 3 | TERM: out saved TERM; 300 ms; exit 3 "
    "| URG: out URG";

/// A launch whose programs save at USR2.
struct SavingPlay : LaunchPlay {
  SavingPlay(std::vector<std::string> programs, bool supervised) : LaunchPlay(std::move(programs)) {
    if (!supervised) become_task(0, 1);
    context.env.set("HPCML_SAVE_SIGNAL", "USR2");
  }
  std::size_t count(const std::string& text) const {
    std::size_t found = 0;
    for (auto at = out().find(text); at != std::string::npos; at = out().find(text, at + 1)) ++found;
    return found;
  }
};

} // namespace

TEST_CASE("program behind a shell gets the save signal once") {
  const bool supervised = GENERATE(false, true);
  SavingPlay play({"start 0; wait"}, supervised);
  play.system.helpers = {k_program};
  play.system.signal_after(1, "URG"); // to the first process of the task alone, as Slurm with cgroups does
  CHECK(play.run() == 3);
  CHECK(play.out() == (supervised ? "[0] saved USR2\n" : "saved USR2\n"));
}

TEST_CASE("task waits for the program when its shell dies by TERM") {
  SavingPlay play({"start 0; wait"}, false);
  play.system.helpers = {k_program};
  play.system.signal_after(1, "TERM");
  CHECK(play.run() == 128 + SIGTERM);
  CHECK(play.system.ended_by() == SIGTERM);
  CHECK(play.out() == "saved TERM\n");
  CHECK(play.system.left().empty());
}

TEST_CASE("program without a handler survives the save request") {
  const bool supervised = GENERATE(false, true);
  SavingPlay play({"2 s; out on; exit 0"}, supervised);
  play.system.signal_after(1, "URG");
  CHECK(play.run() == 0);
  CHECK(play.count("on\n") == 1);
}

TEST_CASE("ranks keep their time after the first has saved") {
  SavingPlay play({"| USR2: 300 ms; exit 3", "| USR2: 60 s; out saved; exit 0"}, true);
  play.system.signal_after(1, "URG");
  CHECK(play.run() == 3);
  CHECK(play.out() == "[1] saved\n");
  CHECK(play.system.signals() == "1 s: USR2, CONT");
}

TEST_CASE("request to save reaches all ranks once") {
  SavingPlay play({k_program, k_program, k_program}, true);
  play.system.signal_after(1, "URG");
  CHECK(play.run() == 3);
  CHECK(play.count("saved USR2") == 3);
  CHECK(play.count("URG") == 0);
}

TEST_CASE("task without a save signal executes its program") {
  LaunchPlay play({"out on; exit 0"});
  play.become_task(0, 1);
  CHECK(play.run() == -1);
  REQUIRE(play.system.executed().size() == 1);
  CHECK(play.system.executed()[0].pid == play.system.self().pid);
}

TEST_CASE("task runs its program without the forwarding process") {
  SavingPlay play({"exit 0"}, false);
  play.system.failures[{"fork", 1}] = EAGAIN;
  CHECK(play.run() == -1);
  CHECK(play.system.executed()[0].pid == play.system.self().pid);
  CHECK_THAT(play.err(), Contains("only the first process of the rank receives the save signal") &&
                             Contains("Resource temporarily unavailable"));
}

TEST_CASE("programs find the default action of the save signal") {
  const bool supervised = GENERATE(false, true);
  SavingPlay play({"exit 0"}, supervised);
  play.system.self().ignored.insert(SIGUSR2); // by the shell that started the launch
  ::sigaddset(&play.system.self().mask, SIGUSR2);
  CHECK(play.run() == 0);
  REQUIRE(play.system.executed().size() == 1);
  const auto& program = play.system.executed()[0];
  CHECK(program.ignored.count(SIGUSR2) == 0);
  for (const int signal : {SIGUSR2, SIGTERM, SIGCHLD}) CHECK(::sigismember(&program.mask, signal) == 0);
}

TEST_CASE("save signal reaches handlers of executed programs, not of forks") {
  const bool supervised = GENERATE(false, true);
  SavingPlay play({"fork; start 0; start 1 | USR2: out program; 1 s; exit 0"}, supervised);
  play.system.helpers = {"| USR2: out helper; exit 7", "60 s"};
  play.system.signal_after(1, "URG");
  CHECK(play.run() == 0);
  CHECK(play.count("program") == 1);
  CHECK(play.count("helper") == 1);
}

TEST_CASE("ranks that do not handle the signal are reported in one line") {
  SavingPlay play({"2 s; exit 0", "2 s; exit 0 | USR2: exit 0", "2 s; exit 0"}, true);
  play.system.signal_after(1, "URG");
  CHECK(play.run() == 0);
  CHECK(play.err() ==
        "hpcml: warning: ranks 0,2/3 (here) do not handle SIGUSR2 and cannot save: they are not "
        "signalled and run until the time limit\n");
}

TEST_CASE("task that does not handle the signal is reported by its launch") {
  SavingPlay play({"2 s; exit 0"}, false);
  play.become_task(3, 8);
  play.system.signal_after(1, "URG");
  CHECK(play.run() == 0);
  CHECK_THAT(play.err(), Contains("hpcml: warning: rank 3/8 (here) does not handle SIGUSR2"));
}

TEST_CASE("USR2 asks to save where srun does not forward the save signal") {
  const auto* name = GENERATE("TERM", "HUP");
  LaunchPlay play({"| " + std::string(name) + ": out saved; exit 0"});
  play.context.env.set("HPCML_SAVE_SIGNAL", name);
  play.system.signal_after(1, "USR2");
  CHECK(play.run() == 0);
  CHECK(play.out() == "[0] saved\n");
}

TEST_CASE("ranks that fail after the request keep launch's code") {
  SavingPlay play({"| USR2: die KILL", "| USR2: 20 s; exit 0"}, true);
  play.system.signal_after(1, "URG");
  CHECK(play.run() == 128 + SIGKILL);
  CHECK(play.system.signals() == "1 s: USR2, CONT");
  CHECK(play.system.seconds() == 21);
}
