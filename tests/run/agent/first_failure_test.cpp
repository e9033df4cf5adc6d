// SPDX-License-Identifier: MIT
// Which of several failures of one attempt is named: the conductor alone, and agents with real ranks.
#include <catch2/catch.hpp>

#include <csignal>

#include "free_port.hpp"
#include "run/agent/agent_helper.hpp"
#include "run/agent/coordinator_play.hpp"
#include "run/agent/failure_order.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

const std::string k_closed = "RuntimeError: [pair.cc:525] Connection closed by peer [127.0.0.1]:43543";

failures::RankFailure note_of(const std::string& message, std::int64_t reported_at = 0) {
  failures::RankFailure note;
  note.status = 1 << 8;
  note.message = message;
  note.reported_at = reported_at;
  return note;
}

} // namespace

TEST_CASE("a rank whose connection was closed is not named over one that failed of itself") {
  const auto raised = note_of("ValueError: x"), closed = note_of(k_closed);
  CHECK(precedes(raised, closed));
  CHECK_FALSE(precedes(closed, raised));
  CHECK_FALSE(precedes(closed, closed));
  // What a program without an error file wrote last counts as much, and a signal is nobody else's doing.
  failures::RankFailure silent = note_of("");
  silent.last_lines = {"some word", k_closed};
  CHECK(is_secondary_failure(silent));
  silent.status = 11;
  CHECK_FALSE(is_secondary_failure(silent));
  failures::RankFailure launcher = note_of("the process that serves the ranks' store was killed");
  launcher.of_launcher = true;
  CHECK(precedes(launcher, closed));
}

TEST_CASE("of two that say in their error files when they failed the earlier one is named") {
  CHECK(precedes(note_of("A: x", 100), note_of("B: y", 101)));
  CHECK_FALSE(precedes(note_of("A: x", 101), note_of("B: y", 101)));
  CHECK_FALSE(precedes(note_of("A: x", 0), note_of("B: y", 101)));
  CHECK_FALSE(precedes(note_of(k_closed, 100), note_of("B: y", 101)));
}

TEST_CASE("an end by request does not explain a failure") {
  const auto first = note_of(k_closed, 100);
  struct Row {
    const char* message;
    std::int64_t reported_at;
    bool cut_short;
    std::vector<std::string> last_lines;
    bool is_cause;
  };
  for (const auto& row :
       std::vector<Row>{{"ValueError: x", 100, false, {}, true},
                        {"ValueError: x", 0, false, {}, true},
                        {"", 0, false, {}, true},
                        {k_closed.c_str(), 100, false, {}, false},
                        {k_closed.c_str(), 99, false, {}, true},
                        {"", 0, true, {}, false},
                        {"", 0, true, {"some word"}, false},
                        {"ValueError: x", 100, true, {}, true},
                        {"ValueError: x", 0, true, {}, false},
                        {"ValueError: x", 0, true, {"ValueError: x"}, true},
                        {"ValueError: x", 0, true, {"in main", "E ValueError: x", " "}, true},
                        {"ValueError: x", 0, true, {"ValueError: x", "retrying"}, false},
                        {"ValueError: x\nof y", 0, true, {"ValueError: x"}, true},
                        {"SignalException: got signal: 15", 100, true, {}, false},
                        {"SignalException: got signal: 15", 100, false, {}, false},
                        {"KeyboardInterrupt", 100, false, {}, false},
                        {"SystemExit: 143", 100, false, {}, false}}) {
    auto later = note_of(row.message, row.reported_at);
    later.cut_short = row.cut_short;
    later.last_lines = row.last_lines;
    CAPTURE(row.message, row.reported_at, row.cut_short, row.last_lines);
    CHECK(may_be_cause(later, first) == row.is_cause);
    later.gpu_fault = "Xid 79"; // explains any end
    CHECK(may_be_cause(later, first));
  }
  for (const int status : {SIGTERM, SIGKILL, 143 << 8, 137 << 8}) CHECK(is_end_by_request(status));
  for (const int status : {0, 1 << 8, SIGINT, SIGSEGV, 130 << 8}) CHECK_FALSE(is_end_by_request(status));
}

TEST_CASE("failures of two nodes are compared by the coordinator's clock") {
  auto first = note_of("A: x", 1000), later = note_of("B: y", 900); // its node's clock is behind
  first.host = "node0", later.host = "node1";
  first.failed_at = 50000, later.failed_at = 50300;
  CHECK_FALSE(precedes(later, first));
  CHECK(needs_arrival(later, first));
  later.reported_at = 2000; // ahead, and yet earlier
  later.failed_at = 45000;
  CHECK(precedes(later, first));
  later.failed_at = 49500; // whole seconds do not show this difference
  CHECK_FALSE(precedes(later, first));
  later.message = k_closed;
  CHECK_FALSE(needs_arrival(later, first));
}

TEST_CASE("age of a failure is bounded by the run") {
  CHECK(age_of(0, 5000, 9000) == 0);
  CHECK(age_of(1000, 1003400, 60000) == 3400);
  CHECK(age_of(1000, 999000, 60000) == 0);         // the clock was set back
  CHECK(age_of(1000, 9000000000, 60000) == 60000); // the clock was set forward
}

TEST_CASE("a slow clock does not make a failure the first") {
  Play play(rules(2, 2));
  begin(play, 2);
  play.failed(0, 0, 0, 3, "ValueError: cause", 5000, 1000);
  play.pass(seconds(1));
  play.failed(1, 0, 1, 4, "ValueError: effect", 4000, 200);
  play.ended(0, 0, false);
  play.ended(1, 0, false);
  CHECK(play.last<EndCommand>(1).failure->rank == 0);
}

TEST_CASE("a fast clock does not hide the first failure") {
  Play play(rules(2, 2));
  begin(play, 2);
  play.failed(0, 0, 0, 3, "ValueError: effect", 5000, 500);
  play.pass(seconds(1));
  play.failed(1, 0, 1, 4, "ValueError: cause", 9000, 4000);
  play.ended(0, 0, false);
  play.ended(1, 0, false);
  const auto end = play.last<EndCommand>(1);
  CHECK(end.failure->rank == 1);
  CHECK(end.code == 4);
}

TEST_CASE("a failure that can have no cause in another is named at once") {
  Play play(rules(2, 2));
  begin(play, 2);
  play.failed(1, 0, 2, 7, "ValueError: x");
  const auto stop = play.only<StopCommand>(0);
  CHECK(stop.is_reporter);
  play.failed(0, 0, 0, 9, "ValueError: y", 100);
  CHECK(play.take(0).empty());
}

TEST_CASE("the cause of a failure is named where it is heard of before all ranks have ended") {
  Play play(rules(2, 2));
  begin(play, 2);
  play.failed(0, 0, 1, 1, k_closed);
  for (const unsigned node : {0U, 1U}) {
    const auto stop = play.only<StopCommand>(node);
    CHECK_FALSE(stop.is_reporter);
  }
  play.failed(1, 0, 3, 7, "ValueError: x");
  const auto named = play.only<ReportCommand>(0);
  CHECK(named.is_reporter);
  REQUIRE(named.failure);
  CHECK(named.failure->rank == 3);
  CHECK(play.take(1).empty());
  play.ended(0, 0, false);
  play.ended(1, 0, false);
  const auto end = play.only<EndCommand>(1);
  CHECK(end.code == 7);
  CHECK(end.failure->rank == 3);
}

TEST_CASE(
    "where nothing more is heard the first failure is named at the end of all ranks, or after a while") {
  Play play(rules(2, 2, 1));
  begin(play, 2);
  play.failed(0, 0, 1, 1, "ValueError: x", 100);
  CHECK_FALSE(play.only<StopCommand>(0).is_reporter);
  play.failed(1, 0, 2, 3, "ValueError: y", 99, 1000); // it was before, and others may have been
  CHECK(play.take(0).empty());
  const bool ends = GENERATE(true, false);
  if (ends) {
    play.ended(0, 0, false);
    play.ended(1, 0, false);
  } else {
    play.pass(seconds(2));
  }
  const auto commands = play.take(0);
  REQUIRE_FALSE(commands.empty());
  const auto* report = std::get_if<ReportCommand>(&commands.front().what);
  REQUIRE(report != nullptr);
  CHECK(report->failure->rank == 2);
  CHECK(report->restarts_all);
  CHECK(report->restarts == 1);
  if (ends) CHECK(std::holds_alternative<ServeCommand>(commands.back().what));
}

TEST_CASE("a rank that takes its time to end is named over the one that saw it go first") {
  // Rank 0 has raised and is slow to end, as Python is; it does not hear TERM meanwhile.
  const auto script = "trap '' TERM; if test $RANK = 0; then echo Traceback '(most recent call last):' >&2;"
                      "echo 'ValueError: bad' >&2; touch $HPCML_PROGRESS_FILE.up; sleep 1; exit 3; fi;"
                      "while ! test -e $(dirname $HPCML_PROGRESS_FILE)/../0/progress.up; do sleep 0.05; done;"
                      "echo '" +
                      k_closed + "' >&2; exit 1";
  const auto end = run_one(agent_of(2, script));
  CAPTURE(end.err);
  CHECK(end.code == 3);
  CHECK_THAT(end.err, Contains("(node0, local 0) exited with code 3") &&
                          Contains("stopped because rank 0 failed") && !Contains("because rank 1 failed"));
}

TEST_CASE("the earlier of two error files is named across nodes") {
  test::TempDirectory directory;
  const auto flag = [&](const char* name) { return (directory / name).string(); };
  const auto script =
      "fail() { echo '{\"message\": {\"message\": \"ValueError: '$1'\", \"extraInfo\": {\"timestamp\": \"'"
      "$(date +%s)'\"}}}' > $TORCHELASTIC_ERROR_FILE; }; "
      "if test $RANK = 1; then trap '' TERM; fail cause; touch " +
      flag("cause") + "; until test -e " + flag("effect") + "; do sleep 0.1; done; sleep 1; exit 3; fi; " +
      "until test -e " + flag("cause") + "; do sleep 0.1; done; sleep 3; fail effect; touch " +
      flag("effect") + "; exit 4";
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 1, script, 2);
  request.place->node_rank = 0;
  AgentProcess first(request, "node0");
  request.place->node_rank = 1;
  AgentProcess second(request, "node1");
  const auto end = first.wait();
  CAPTURE(end.out, end.err);
  CHECK(end.code == 3);
  CHECK_THAT(end.err, Contains("ValueError: cause") && Contains("because rank 1 failed"));
  CHECK(second.wait().code == 3);
}
