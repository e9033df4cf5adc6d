// SPDX-License-Identifier: MIT
// The exit code, the signal and the class with which an agent ends, from what it knows at the end of the run.
#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "hpcml/exit_code.hpp"
#include "run/agent/agent_outcome.hpp"
#include "run/agent/coordinator.hpp"

using namespace hpcml;
using agent::AgentFinalState;
using agent::EndCommand;

namespace {

enum class Failure { none, rank, out_of_memory, broken_gpu, launcher };

EndCommand end_of(int code, Failure failure = Failure::none, std::vector<std::string> lost = {}) {
  EndCommand end;
  end.code = code;
  end.lost = std::move(lost);
  if (failure == Failure::none) return end;
  end.failure.emplace();
  end.failure->status = code << 8;
  end.failure->of_launcher = failure == Failure::launcher;
  end.failure->out_of_memory = failure == Failure::out_of_memory;
  if (failure == Failure::broken_gpu) end.failure->gpu_fault = "NVRM: Xid (PCI:0000:01:00): 79";
  return end;
}

/// "143 by 15": the code, and the signal to end by.
std::string text_of(const launch::LaunchOutcome& outcome) {
  return std::to_string(outcome.code) + (outcome.signal != 0 ? " by " + std::to_string(outcome.signal) : "");
}

/// The class of such an end outside a job, where no cause is asked for.
std::string class_of(const AgentFinalState& result, const std::optional<EndCommand>& end,
                     bool ranks_ran = false) {
  const auto outcome = end ? outcome_of_command(result, *end) : outcome_of_lost_connection(result, ranks_ran);
  const auto found =
      launch::classify_end(run_result(result, outcome, end), {}, std::chrono::system_clock::time_point{});
  return found ? model::word_of(*found) : "none";
}

} // namespace

TEST_CASE("the coordinator's code ends an agent") {
  struct Row {
    AgentFinalState result;
    EndCommand end;
    const char* outcome;
    const char* cause;
  };
  const auto term = [](AgentFinalState result) { return result.signal = SIGTERM, result; };
  const std::vector<Row> rows = {
      // No signal to this agent.
      {{.all_succeeded = true}, end_of(0), "0", "none"},
      {{}, end_of(0), "0", "none"}, // a node whose ranks were not started
      {{.code = 3}, end_of(3, Failure::rank), "3", "program"},
      {{.code = 0, .all_succeeded = true}, end_of(3, Failure::rank), "3", "program"},
      {{.code = 137}, end_of(137, Failure::out_of_memory), "137", "out-of-memory"},
      {{.code = 134}, end_of(134, Failure::broken_gpu), "134", "node"},
      {{.code = 134}, end_of(134, Failure::rank), "134", "program"},
      {{}, end_of(125, Failure::launcher), "125", "launcher"},
      {{}, end_of(1, Failure::none, {"node2"}), "1", "node"},
      {{}, end_of(agent::k_nodes_missing), "1", "node"},
      {{}, end_of(124), "124", "program"}, // stalled
      {{.all_succeeded = true, .separate_worlds = true}, end_of(0), "125", "program"},
      // Another agent received the signal.
      {{}, end_of(143), "143", "user"},
      {{.code = 143}, end_of(143), "143", "user"},
      {{.all_succeeded = true}, end_of(143), "0", "none"},
      {{.save_requested = true, .code = 5}, end_of(143), "5", "time-limit"},
      {{.save_requested = true, .all_succeeded = true}, end_of(143), "0", "time-limit"},
      {{.save_requested = true, .code = 143}, end_of(143), "143 by 15", "time-limit"},
      // This one did.
      {term({}), end_of(143), "143 by 15", "user"},
      {term({.code = 143}), end_of(143), "143 by 15", "user"},
      {term({.all_succeeded = true}), end_of(143), "0", "none"},
      {term({.code = 5}), end_of(143), "143 by 15", "user"},
      {term({.save_requested = true, .code = 5}), end_of(143), "5", "time-limit"},
      {term({.save_requested = true, .code = 143}), end_of(143), "143 by 15", "time-limit"},
      {term({.save_requested = true}), end_of(143), "143 by 15", "time-limit"},
      {term({.code = 3}), end_of(3, Failure::rank), "3", "program"},
      {term({.code = 143}), end_of(143, Failure::rank), "143 by 15", "program"},
      {term({}), end_of(130), "130", "user"}, // another agent another one
      {term({.all_succeeded = true}), end_of(0), "0", "none"},
      {term({}), end_of(1, Failure::none, {"node2"}), "1", "node"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(text_of(outcome_of_command(rows[i].result, rows[i].end)) == rows[i].outcome);
    CHECK(class_of(rows[i].result, rows[i].end) == rows[i].cause);
  }
}

TEST_CASE("an agent that loses its coordinator ends itself") {
  struct Row {
    AgentFinalState result;
    bool ranks_ran;
    const char* outcome;
    const char* cause;
  };
  const std::vector<Row> rows = {
      {{.is_leader = true}, false, "125", "launcher"}, // its own process has exited
      {{.is_leader = true}, true, "125", "launcher"},
      {{}, false, "1", "node"},
      {{}, true, "1", "node"},
      {{.all_succeeded = true}, true, "1", "node"},
      {{.signal = SIGTERM}, false, "143 by 15", "user"},
      {{.signal = SIGTERM}, true, "143 by 15", "user"},
      {{.is_leader = true, .signal = SIGINT}, false, "130 by 2", "user"},
      {{.signal = SIGTERM, .all_succeeded = true}, true, "0", "none"},
      {{.signal = SIGTERM, .all_succeeded = true}, false, "143 by 15", "user"},
      {{.signal = SIGTERM, .code = 5}, true, "143 by 15", "user"},
      {{.signal = SIGTERM, .save_requested = true, .code = 5}, true, "5", "time-limit"},
      {{.signal = SIGTERM, .save_requested = true, .code = 143}, true, "143 by 15", "time-limit"},
      {{.signal = SIGTERM, .save_requested = true, .code = 5}, false, "143 by 15", "time-limit"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(text_of(outcome_of_lost_connection(rows[i].result, rows[i].ranks_ran)) == rows[i].outcome);
    CHECK(class_of(rows[i].result, {}, rows[i].ranks_ran) == rows[i].cause);
  }
}

TEST_CASE("an agent ends by its signal without a coordinator") {
  CHECK(text_of(agent::outcome_of_silence({.signal = SIGTERM})) == "143 by 15");
  CHECK(text_of(agent::outcome_of_silence({.signal = SIGINT, .all_succeeded = true})) == "130 by 2");
  CHECK(text_of(agent::outcome_of_silence({.signal = SIGHUP, .save_requested = true, .code = 5})) ==
        "129 by 1");
}

TEST_CASE("an agent's signal is that of its code") {
  // Whatever is combined: a failure keeps its code, and the signal to end by is that of the code.
  unsigned combinations = 0;
  for (const int signal : {0, SIGTERM, SIGINT})
    for (const bool saving : {false, true})
      for (const int own : {0, 5, 143})
        for (const bool all : {false, true})
          for (const int code : {0, 1, 5, 125, 130, 143})
            for (const auto failure : {Failure::none, Failure::rank, Failure::launcher}) {
              const AgentFinalState result{
                  .signal = signal, .save_requested = saving, .code = own, .all_succeeded = all};
              CAPTURE(signal, saving, own, all, code, static_cast<int>(failure));
              const auto outcome = outcome_of_command(result, end_of(code, failure));
              if (failure != Failure::none) CHECK(outcome.code == code);
              if (outcome.signal != 0) CHECK(outcome.code == 128 + outcome.signal);
              if (code == 0) CHECK(outcome.code == 0);
              if (!saving && outcome.signal != 0) CHECK(outcome.signal == signal);
              ++combinations;
            }
  CHECK(combinations == 648);
}
