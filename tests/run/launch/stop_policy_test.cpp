// SPDX-License-Identifier: MIT
// How ranks are stopped, decided in memory: each state with each event, and what comes of sequences of them.
#include <catch2/catch.hpp>

#include <map>

#include "hpcml/exit_code.hpp"
#include "run/launch/stop_policy_play.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using launch::LaunchOutcome;

namespace {

/// States and the events that lead to them.
const std::map<std::string, std::string> k_states = {
    {"running", "CONT"},
    {"ending", "TERM; 1 s pass"},
    {"saving", "URG"},
    {"stopping after a failure", "0 exits 3"},
    {"waiting for the others", "USR1; 0 dies USR1"},
    {"stopping for the observer", "observer stops"},
    {"stopping without a store", "store exits"},
    {"killed", "TERM; 1 s pass; TERM; 1 s pass"},
    {"given up", "TERM; 1 s pass; TERM; 2 s pass"},
    {"draining", "0 exits 0 last; drain"},
};

/// A line with a state; below it, for each event, the actions. What differs in no way from "running" is not
/// repeated for the signals that are only passed on.
constexpr const char* k_transitions = R"(
running
  INT              | buffer, INT, CONT, request INT
  TERM             | buffer, TERM, CONT, request TERM
  QUIT             | QUIT
  QUIT at terminal | buffer, QUIT, CONT, request QUIT
  HUP              | HUP
  USR1             | USR1
  USR2             | save USR2, CONT
  URG              | save USR2, CONT
  TSTP             | TSTP, suspend
  CONT             | CONT
  WINCH            | WINCH
  1 exits 0        |
  1 exits 3        | read 1, memory 1, failure 1, TERM, CONT
  1 exits 3 last   | read 1, memory 1, failure 1
  1 dies KILL      | read 1, memory 1, failure 1, TERM, CONT
  1 dies TERM      | read 1, memory 1, failure 1, TERM, CONT
  1 leaves 0       |
  1 leaves 143     | read 1, memory 1, failure 1, TERM, CONT
  1 group ends     |
  observer stops   | TERM, CONT
  observer kills   | KILL
  store exits      | store, TERM, CONT
  10 s pass        |
  30 s pass        |
  60 s paused      |
ending
  INT              | report TERM, KILL
  TERM             | report TERM, KILL
  QUIT             | QUIT
  QUIT at terminal | report TERM, KILL
  HUP              | HUP
  USR1             | USR1
  USR2             |
  URG              |
  TSTP             | TSTP, suspend
  CONT             | CONT
  WINCH            | WINCH
  1 exits 0        |
  1 exits 3        | read 1, memory 1
  1 exits 3 last   | read 1, memory 1
  1 dies KILL      | read 1, memory 1
  1 dies TERM      | read 1
  1 leaves 0       |
  1 leaves 143     |
  1 leaves 3       | read 1, memory 1
  1 group ends     |
  observer stops   |
  observer kills   | KILL
  store exits      |
  10 s pass        |
  30 s pass        | report TERM, KILL
  60 s paused      |
saving
  INT              | buffer, INT, CONT, request INT
  TERM             | buffer, TERM, CONT, request TERM
  QUIT             | QUIT
  QUIT at terminal | buffer, QUIT, CONT, request QUIT
  HUP              | HUP
  USR1             | USR1
  USR2             | save USR2, CONT
  URG              | save USR2, CONT
  TSTP             | TSTP, suspend
  CONT             | CONT
  WINCH            | WINCH
  1 exits 0        |
  1 exits 3        | read 1, request USR2
  1 exits 3 last   | read 1, request USR2
  1 dies KILL      | read 1, request USR2
  1 dies TERM      | read 1, request USR2
  1 dies USR2      | read 1, request USR2
  1 leaves 0       |
  1 leaves 140     |
  1 leaves 143     | read 1, request USR2
  1 group ends     |
  observer stops   |
  observer kills   | KILL
  store exits      | store, TERM, CONT
  10 s pass        |
  30 s pass        |
  60 s paused      |
stopping after a failure
  INT              | buffer, INT, CONT, request INT
  TERM             | buffer, TERM, CONT, request TERM
  QUIT             | QUIT
  QUIT at terminal | buffer, QUIT, CONT, request QUIT
  HUP              | HUP
  USR1             | USR1
  USR2             | save USR2, CONT
  TSTP             | TSTP, suspend
  1 exits 0        |
  1 exits 3        |
  1 exits 3 last   |
  1 dies KILL      |
  1 dies TERM      |
  1 leaves 0       |
  1 leaves 143     |
  1 group ends     |
  observer stops   |
  observer kills   | KILL
  store exits      |
  9 s pass         |
  10 s pass        | KILL
  30 s pass        | KILL
  60 s paused      |
waiting for the others
  INT              | buffer, INT, CONT, request INT
  TERM             | buffer, TERM, CONT, request TERM
  HUP              | HUP
  USR1             | USR1
  USR2             | save USR2, CONT
  TSTP             | TSTP, suspend
  1 exits 0        |
  1 exits 3        |
  1 dies KILL      |
  1 dies USR1      |
  1 leaves 138     |
  1 group ends     |
  observer stops   |
  observer kills   | KILL
  store exits      |
  9 s pass         |
  10 s pass        | TERM, CONT
  30 s pass        | TERM, CONT
  60 s paused      |
stopping for the observer
  INT              | buffer, INT, CONT, request INT
  TERM             | buffer, TERM, CONT, request TERM
  HUP              | HUP
  USR2             | save USR2, CONT
  TSTP             | TSTP, suspend
  1 exits 0        |
  1 exits 3        |
  1 exits 3 last   |
  1 dies KILL      |
  1 dies TERM      |
  1 leaves 143     |
  1 group ends     |
  observer stops   |
  observer kills   | KILL
  store exits      |
  9 s pass         |
  10 s pass        | KILL
  60 s paused      |
stopping without a store
  INT              | buffer, INT, CONT, request INT
  TERM             | buffer, TERM, CONT, request TERM
  HUP              | HUP
  USR2             | save USR2, CONT
  TSTP             | TSTP, suspend
  1 exits 0        |
  1 exits 3        |
  1 dies KILL      |
  1 dies TERM      |
  1 leaves 143     |
  observer stops   |
  observer kills   | KILL
  store exits      |
  9 s pass         |
  10 s pass        | KILL
  60 s paused      |
killed
  INT              | report TERM, KILL
  TERM             | report TERM, KILL
  QUIT             | QUIT
  HUP              | HUP
  USR2             |
  TSTP             | TSTP, suspend
  1 exits 0        |
  1 exits 3        | read 1, memory 1
  1 dies KILL      | read 1, memory 1
  1 dies TERM      | read 1
  1 leaves 143     |
  1 group ends     |
  observer stops   |
  observer kills   | KILL
  store exits      |
  1 s pass         | give up
  30 s pass        | give up
  60 s paused      |
given up
  TERM             | report TERM, KILL
  1 dies KILL      | read 1, memory 1
  1 leaves 143     |
  observer stops   |
  observer kills   | KILL
  store exits      |
  30 s pass        |
draining
  INT              |
  TERM             |
  QUIT             |
  HUP              |
  USR1             |
  USR2             |
  URG              |
  TSTP             |
  CONT             |
  WINCH            |
  2 s pass         |
  60 s paused      |
)";

struct OutcomeRow {
  const char* events;
  LaunchOutcome outcome;
};

void check_outcomes(const launch::StopOptions& options, const std::vector<OutcomeRow>& rows) {
  for (const auto& row : rows) {
    CAPTURE(row.events);
    StopPlay play(options);
    play.play(row.events);
    const auto outcome = play.policy().outcome(false);
    CHECK(outcome.code == row.outcome.code);
    CHECK(outcome.signal == row.outcome.signal);
    CHECK(outcome.stopped == row.outcome.stopped);
  }
}

} // namespace

TEST_CASE("each event has its actions in each state of ranks") {
  std::string state;
  unsigned rows = 0;
  for (const auto& line : util::split(k_transitions, '\n')) {
    const auto bar = line.find('|');
    if (bar == std::string::npos) {
      state = line;
      continue;
    }
    const auto event = std::string(util::trim(line.substr(0, bar)));
    CAPTURE(state, event);
    StopPlay play;
    REQUIRE(k_states.contains(state));
    play.play(k_states.at(state));
    CHECK(play.happen(event) == util::trim(line.substr(bar + 1)));
    ++rows;
  }
  CHECK(rows > 170); // else they are not read
}

TEST_CASE("the first rank that fails decides the exit code") {
  check_outcomes(all_stop_options(),
                 {{"0 exits 0; 1 exits 0 last", {}},
                  {"0 exits 3 last", {3}},
                  {"0 exits 0; 1 exits 3 last", {3}},
                  {"0 exits 3; 1 exits 4 last", {3}},
                  {"0 exits 3; 1 dies TERM last", {3}},
                  {"0 exits 3; 10 s pass; 1 dies KILL last", {3}},
                  {"0 dies SEGV; 1 dies TERM last", {139}},
                  {"0 dies KILL last", {137}},
                  {"0 dies TERM last", {143}},
                  {"0 exits 143 last", {143}},
                  {"0 exits 3; TERM; 1 dies TERM last", {3}},
                  {"0 exits 3; TERM; 1 s pass; TERM; 1 dies KILL last", {3}},
                  {"0 dies KILL; TERM; 1 s pass; TERM; 1 dies KILL last", {137}},
                  {"0 exits 3; URG; 1 exits 0 last", {3}},
                  {"0 exits 3; store exits; 1 dies TERM last", {3}},
                  {"0 exits 3; observer stops; 1 dies TERM last", {3, 0, true}},
                  {"0 exits 3; observer kills; observer stops; 1 dies KILL last", {3, 0, true}}});
}

TEST_CASE("ranks that end by a forwarded signal give its outcome") {
  check_outcomes(all_stop_options(), {{"TERM; 0 exits 0; 1 exits 0 last", {}},
                                      {"TERM; 0 dies TERM; 1 dies TERM last", {143, SIGTERM}},
                                      {"INT; 0 dies INT last", {130, SIGINT}},
                                      {"INT; 0 exits 130 last", {130, SIGINT}},
                                      {"TERM; 0 exits 0; 1 dies TERM last", {143, SIGTERM}},
                                      {"TERM; 0 exits 5; 1 dies TERM last", {5}},
                                      {"TERM; 0 dies SEGV last", {139}},
                                      {"TERM; 0 dies KILL last", {137}},
                                      {"TERM; 1 s pass; TERM; 0 dies KILL last", {143, SIGTERM}},
                                      {"TERM; 1 s pass; INT; 0 dies KILL last", {143, SIGTERM}},
                                      {"INT; 30 s pass; 0 dies KILL last", {130, SIGINT}},
                                      {"TERM; 30 s pass; 0 exits 4 last", {4}},
                                      {"QUIT at terminal; 0 dies QUIT last", {131, SIGQUIT}},
                                      {"QUIT; 0 dies QUIT last", {131, SIGQUIT}},
                                      {"HUP; 0 dies HUP last", {129, SIGHUP}},
                                      {"USR1; 0 dies USR1; 1 dies USR1 last", {138, SIGUSR1}},
                                      {"USR1; 0 exits 138 last", {138, SIGUSR1}},
                                      {"USR1; CONT; WINCH; 0 dies USR1 last", {138, SIGUSR1}},
                                      {"USR1; 0 exits 0; 1 exits 0 last", {}},
                                      {"USR1; 0 exits 3 last", {3}},
                                      {"USR1; 0 dies USR1; TERM; 1 dies TERM last", {138, 0}},
                                      {"TERM; HUP; 0 dies HUP last", {129, SIGHUP}}});
}

TEST_CASE("ranks that were asked to save give their own outcome") {
  check_outcomes(all_stop_options(), {{"URG; 0 exits 0; 1 exits 0 last", {}},
                                      {"URG; 0 dies USR2; 1 dies USR2 last", {140, SIGUSR2}},
                                      {"USR2; 0 dies USR2 last", {140, SIGUSR2}},
                                      {"URG; 0 exits 7; 1 exits 0 last", {7}},
                                      {"URG; 0 exits 140 last", {140, SIGUSR2}},
                                      {"URG; TERM; 0 dies TERM last", {143, SIGTERM}},
                                      {"URG; observer stops; 0 exits 0 last", {0, 0, true}},
                                      {"TERM; URG; 0 dies TERM last", {143, SIGTERM}}});
}

TEST_CASE("stopped ranks have not failed") {
  check_outcomes(all_stop_options(), {{"observer stops; 0 dies TERM; 1 dies TERM last", {0, 0, true}},
                                      {"observer stops; 0 exits 3 last", {0, 0, true}},
                                      {"observer stops; 10 s pass; 0 dies KILL last", {0, 0, true}},
                                      {"observer stops; TERM; 0 dies TERM last", {143, SIGTERM, true}},
                                      {"TERM; observer stops; 0 dies TERM last", {143, SIGTERM, true}},
                                      {"observer kills; observer stops; 0 dies KILL last", {0, 0, true}},
                                      {"store exits; 0 dies TERM last", {0, 0, true}}});
  auto alone = all_stop_options();
  alone.has_observer = false;
  check_outcomes(alone, {{"store exits; 0 dies TERM last", {k_cannot_set_up, 0, true}},
                         {"store exits; 0 exits 0; 1 exits 0 last", {k_cannot_set_up, 0, true}},
                         {"store exits; TERM; 0 dies TERM last", {k_cannot_set_up, 0, true}},
                         {"TERM; store exits; 0 dies TERM last", {143, SIGTERM}},
                         {"0 exits 3; store exits; 1 dies TERM last", {3}}});
}

TEST_CASE("a shell killed by a signal may not have failed") {
  check_outcomes(all_stop_options(),
                 {{"TERM; 0 leaves 143", {}},
                  {"TERM; 0 leaves 143; 0 group ends last", {143, SIGTERM}},
                  {"TERM; 0 leaves 143; 1 exits 5; 0 group ends last", {5}},
                  {"TERM; 0 leaves 143; 1 exits 0; 0 group ends last", {143, SIGTERM}},
                  {"USR1; 0 leaves 138; 0 group ends last", {138, SIGUSR1}},
                  {"TERM; 0 leaves 143; 1 leaves 143; 1 group ends; 0 group ends last", {143, SIGTERM}},
                  {"TERM; 0 leaves 3", {3}}});
  StopPlay play;
  CHECK(play.play("USR1; 0 leaves 138; 0 group ends") == "read 0, request USR1");
  CHECK(play.seconds_left() == 10); // for the others
  CHECK(play.play("0 group ends").empty());
}

TEST_CASE("a stalled reader ends the wait after a signal") {
  check_outcomes(all_stop_options(),
                 {{"0 exits 0 last; drain; 60 s pass", {}},
                  {"0 exits 0 last; drain; TERM", {}},
                  {"0 exits 0 last; drain; TERM; 2 s pass", {143, SIGTERM}},
                  {"0 exits 0 last; drain; HUP; 2 s pass", {129, SIGHUP}},
                  {"0 exits 0 last; drain; QUIT; 2 s pass", {131, SIGQUIT}},
                  {"0 exits 0 last; drain; USR1; 2 s pass", {}},
                  {"0 exits 0 last; drain; TERM; TERM", {}},
                  {"0 exits 0 last; drain; TERM; 251 ms pass; INT", {143, SIGTERM}},
                  {"0 exits 0 last; drain; TERM; 1 s pass; progress; 1 s pass", {}},
                  {"0 exits 0 last; drain; TERM; 1 s pass; progress; 2 s pass", {143, SIGTERM}},
                  {"0 exits 0 last; drain; TERM; 60 s paused", {}},
                  {"TERM; 0 exits 0 last; drain; 1 s pass", {}},
                  {"TERM; 0 exits 0 last; drain; 2 s pass", {143, SIGTERM}},
                  {"TERM; 0 exits 0 last; drain; 1 s pass; TERM", {143, SIGTERM}},
                  {"0 exits 3 last; drain; TERM; 2 s pass", {3}},
                  {"observer stops; 0 exits 0 last; drain; TERM; 2 s pass", {143, SIGTERM, true}}});
}

TEST_CASE("unwritable output is an error unless a rank failed") {
  const auto code = [](const char* events) {
    StopPlay play;
    play.play(events);
    return play.policy().outcome(true).code;
  };
  CHECK(code("0 exits 0 last; drain") == k_cannot_set_up);
  CHECK(code("0 exits 3 last; drain") == 3);
  CHECK(code("0 exits 0 last; drain; TERM; 2 s pass") == k_cannot_set_up);
}

TEST_CASE("deadlines follow the grace periods") {
  struct Row {
    const char* events;
    double seconds; // until the next deadline; -1: none
  };
  for (const auto& row : {Row{"CONT", -1},
                          {"TERM", 30},
                          {"TERM; 12 s pass", 18},
                          {"TERM; 1 s pass; TERM", 2},
                          {"TERM; 30 s pass", 2},
                          {"TERM; 30 s pass; 2 s pass", -1},
                          {"URG", -1},
                          {"USR1", -1},
                          {"0 exits 0", -1},
                          {"0 exits 3", 10},
                          {"0 exits 3 last", -1},
                          {"0 exits 3; 4 s pass", 6},
                          {"0 exits 3; 4 s pass; 1 exits 4", 6},
                          {"0 exits 3; 10 s pass", 2},
                          {"0 exits 3; 4 s pass; TERM", 6},
                          {"observer stops; 4 s pass; INT", 6},
                          {"TERM; 1 s pass; TERM; 1 s pass; TERM", 1},
                          {"USR1; 0 dies USR1", 10},
                          {"USR1; 0 dies USR1 last", -1},
                          {"USR1; 0 dies USR1; 10 s pass", 10},
                          {"USR1; 0 dies USR1; 10 s pass; 10 s pass", 2},
                          {"URG; 0 exits 3", -1},
                          {"TERM; 0 exits 3", 30},
                          {"observer stops", 10},
                          {"observer kills", 2},
                          {"observer kills; 2 s pass", -1},
                          {"store exits", 10},
                          {"TERM; 60 s paused", 30},
                          {"0 exits 3; 4 s pass; 60 s paused", 6},
                          {"observer kills; 60 s paused", 2},
                          {"USR1; 0 dies USR1; 60 s paused", 10},
                          {"0 exits 0 last; drain", -1},
                          {"0 exits 0 last; drain; TERM", 2},
                          {"0 exits 0 last; drain; TERM; 60 s paused", 2},
                          {"TERM; drain", 2}}) {
    CAPTURE(row.events);
    StopPlay play;
    play.play(row.events);
    CHECK(play.seconds_left() == row.seconds);
  }
}

TEST_CASE("in a job Slurm limits the time after a signal") {
  auto options = all_stop_options();
  options.grace_after_signal.reset();
  StopPlay play(options);
  play.play("TERM");
  CHECK(play.seconds_left() == -1);
  CHECK(play.play("0 exits 3").substr(0, 6) == "read 0");
  CHECK(play.seconds_left() == -1);
  CHECK(play.play("1 s pass; TERM") == "report TERM, KILL");
}

TEST_CASE("the same request within 250 ms is one") {
  for (const auto& [events, actions] : {std::pair{"TERM; TERM", ""},
                                        {"TERM; INT", ""},
                                        {"TERM; 250 ms pass; TERM", ""},
                                        {"TERM; 251 ms pass; TERM", "report TERM, KILL"},
                                        {"INT; 251 ms pass; TERM", "report INT, KILL"}}) {
    CAPTURE(events);
    CHECK(StopPlay().play(events) == actions);
  }
}

TEST_CASE("a grace period of zero kills at once") {
  auto options = all_stop_options();
  options.grace_after_signal = options.grace_after_failure = std::chrono::seconds(0);
  CHECK(StopPlay(options).play("TERM; 0 s pass") == "report TERM, KILL");
  CHECK(StopPlay(options).play("0 exits 3; 0 s pass") == "KILL");
  CHECK(StopPlay(options).play("USR1; 0 dies USR1; 0 s pass") == "TERM, CONT, KILL");
}

TEST_CASE("a save request needs a save signal") {
  auto options = all_stop_options();
  options.save_signal = 0;
  CHECK(StopPlay(options).play("URG").empty());
  CHECK(StopPlay(options).play("USR2") == "USR2");
  options.save_signal = SIGUSR1;
  CHECK(StopPlay(options).play("URG") == "save USR1, CONT");
  CHECK(StopPlay(options).play("USR1") == "save USR1, CONT");
  CHECK(StopPlay(options).play("USR2") == "USR2");
  options.save_signal = SIGTERM;
  CHECK(StopPlay(options).play("TERM") == "buffer, TERM, CONT, request TERM");
  CHECK(StopPlay(options).play("USR2") == "save TERM, CONT");
}

TEST_CASE("a failure report names the signal that launch received") {
  const auto describe = [](const char* events) {
    StopPlay play;
    play.play(events);
    return play.policy().describe_signal();
  };
  CHECK(describe("0 exits 0 last").empty());
  CHECK(describe("0 exits 3 last").empty());
  CHECK(describe("0 dies TERM last").empty());
  CHECK(describe("0 exits 3; TERM; 1 dies TERM last").empty());
  CHECK(describe("TERM; 0 exits 143 last").empty()); // the shell's own exit
  CHECK(describe("TERM; 0 dies KILL last").empty());
  CHECK(describe("TERM; 0 dies TERM last") == ", the signal that hpcml launch received");
  CHECK(describe("USR1; 0 dies USR1 last") == ", the signal that hpcml launch received");
  CHECK(describe("INT; 30 s pass; 0 dies KILL last") == ": it did not exit after SIGINT");
  CHECK(describe("0 dies KILL; TERM; 1 s pass; TERM; 1 dies KILL last").empty());
  CHECK(describe("0 exits 3; 10 s pass; 1 dies KILL last").empty());
}

TEST_CASE("the end of ranks has the facts for its class") {
  const auto result = [](const char* events) {
    StopPlay play;
    play.play(events);
    return play.policy().run_result(play.policy().outcome(false), model::FailureClass::out_of_memory);
  };
  CHECK(result("0 exits 3 last").failure == model::FailureClass::out_of_memory);
  CHECK(result("0 exits 3 last").code == 3);
  CHECK_FALSE(result("TERM; 0 dies TERM last").failure);
  CHECK(result("TERM; 0 dies TERM last").signal == SIGTERM);
  CHECK(result("TERM; 0 exits 3 last").failure == model::FailureClass::out_of_memory);
  CHECK(result("URG; 0 exits 3 last").save_requested);
  CHECK_FALSE(result("0 exits 3 last").save_requested);
  CHECK(result("store exits; 0 dies TERM last").failure == model::FailureClass::launcher);
  CHECK(result("0 exits 3; store exits").failure == model::FailureClass::out_of_memory);
}

TEST_CASE("a rank of a step may receive TERM first") {
  const auto precedes = [](const char* events, int status, bool in_step_task = true) {
    auto options = all_stop_options();
    options.in_step_task = in_step_task;
    StopPlay play(options);
    play.play(events);
    return play.policy().may_precede_signal(status);
  };
  CHECK(precedes("CONT", SIGTERM));
  CHECK(precedes("CONT", 143 << 8));
  CHECK(precedes("URG", SIGTERM));
  CHECK_FALSE(precedes("CONT", SIGTERM, false));
  CHECK_FALSE(precedes("CONT", SIGKILL));
  CHECK_FALSE(precedes("CONT", 0));
  CHECK_FALSE(precedes("TERM", SIGTERM));
  CHECK_FALSE(precedes("0 exits 3", SIGTERM));
  CHECK_FALSE(precedes("observer stops", SIGTERM));
  CHECK_FALSE(precedes("store exits", SIGTERM));
}

TEST_CASE("processes that a successful rank leaves may continue") {
  const auto waits = [](const char* events, int status) {
    StopPlay play;
    play.play(events);
    return play.policy().waits_for_group(status);
  };
  CHECK_FALSE(waits("CONT", 0));
  CHECK_FALSE(waits("URG", 0));
  CHECK_FALSE(waits("USR1", 0));
  CHECK(waits("CONT", 3 << 8));
  CHECK(waits("TERM", 0));
  CHECK(waits("0 exits 3", 0));
  CHECK(waits("observer stops", 0));
  CHECK(waits("store exits", 0));
  const auto ends = [](const char* events) {
    StopPlay play;
    play.play(events);
    return play.policy().ends_descendants();
  };
  CHECK_FALSE(ends("0 exits 0 last"));
  CHECK_FALSE(ends("TERM; 0 exits 0 last"));
  CHECK(ends("0 exits 3 last"));
  CHECK(ends("observer stops"));
  CHECK(ends("store exits"));
}

TEST_CASE("grace periods come from the request or the job") {
  using std::chrono::seconds;
  launch::LaunchRequest request;
  util::EnvSnapshot env;
  auto options = launch::make_stop_options(request, env, false);
  CHECK(options.grace_after_signal == seconds(30));
  CHECK(options.grace_after_failure == seconds(10));
  CHECK_FALSE(options.has_observer);
  CHECK_FALSE(options.in_step_task);
  CHECK(options.save_signal == 0);
  env.set("SLURM_JOB_ID", "7");
  env.set("SLURM_PROCID", "0");
  env.set("SLURM_STEP_NUM_TASKS", "2");
  env.set("HPCML_SAVE_SIGNAL", "USR1");
  options = launch::make_stop_options(request, env, true);
  CHECK_FALSE(options.grace_after_signal);
  CHECK(options.grace_after_failure == seconds(10));
  CHECK(options.has_observer);
  CHECK(options.in_step_task);
  CHECK(options.save_signal == SIGUSR1);
  request.grace = seconds(3);
  options = launch::make_stop_options(request, env, true);
  CHECK(options.grace_after_signal == seconds(3));
  CHECK(options.grace_after_failure == seconds(3));
}
