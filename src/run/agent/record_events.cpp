// SPDX-License-Identifier: MIT
#include "run/agent/record_events.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <sys/wait.h>

#include "core/util/signal_names.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::agent {

namespace {

/// Nothing is null, not an empty text.
std::optional<std::string> or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Milliseconds, whatever the size: a run may last for weeks.
std::string seconds_of(double value) {
  if (!std::isfinite(value)) return "null";
  char text[400]; // the largest double has 309 digits
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

void add_end(JsonLine& line, int status) {
  const bool killed = WIFSIGNALED(status);
  line.add("exit_code", killed ? std::nullopt : std::optional(WEXITSTATUS(status)));
  line.add("signal", killed ? std::optional(util::signal_name(WTERMSIG(status))) : std::nullopt);
}

/// Adds the members of each event after its name and time.
struct AddMembers {
  JsonLine& line;

  void operator()(const RunStarted& run) const {
    line.add("version", k_record_version).add("run_id", run.run_id);
    line.add("job", or_null(run.job)).add("step", or_null(run.step)).add("hpcml", run.hpcml);
    line.add("command", run.command)
        .add("directory", run.directory)
        .add("host", run.host)
        .add("node", run.node);
    line.add("nodes", run.nodes).add("max_restarts", run.max_restarts);
    line.add_json("rendezvous_seconds", seconds_of(run.rendezvous_seconds));
  }
  void operator()(const AttemptStarted& attempt) const {
    std::vector<JsonLine> nodes;
    for (const auto& node : attempt.nodes) {
      nodes.emplace_back();
      nodes.back().add("node", node.node).add("host", node.host).add("ranks", node.ranks);
    }
    line.add("attempt", attempt.attempt).add("world_size", attempt.world_size).add("nodes", nodes);
  }
  void operator()(const RankStarted& rank) const {
    line.add("attempt", rank.attempt).add("rank", rank.rank).add("local_rank", rank.local_rank);
    line.add("host", rank.host).add("pid", rank.pid);
    line.add("gpu", or_null(rank.gpu)).add("cpus", or_null(rank.cpus));
  }
  void operator()(const RankPhaseEnded& phase) const {
    line.add("attempt", phase.attempt).add("rank", phase.rank).add("phase", phase.phase);
    line.add_json("duration_seconds", seconds_of(phase.took));
  }
  void operator()(const PhaseSummary& phase) const {
    line.add("attempt", phase.attempt).add("phase", phase.phase).add("ranks", phase.ranks);
    line.add_json("median", seconds_of(phase.median)).add("slowest", phase.slowest);
    line.add("host", phase.host).add_json("duration_seconds", seconds_of(phase.took));
  }
  void operator()(const FailureSeen& failure) const {
    const auto& note = failure.note;
    const auto of_rank = [&](auto value) { return note.of_launcher ? std::nullopt : std::optional(value); };
    line.add("attempt", note.attempt).add("class", note.of_launcher ? "launcher" : "rank");
    line.add("rank", of_rank(note.rank)).add("local_rank", of_rank(note.local_rank));
    line.add("host", note.host).add("pid", of_rank(note.pid)).add("gpu", or_null(note.gpu));
    add_end(line, note.status);
    line.add_json("duration_seconds", seconds_of(note.seconds));
    line.add("out_of_memory", note.out_of_memory).add("memory", or_null(note.memory));
    line.add("gpu_fault", or_null(note.gpu_fault));
    line.add("message", or_null(note.message)).add("traceback", or_null(note.traceback));
    line.add("last_lines", note.last_lines).add("hint", or_null(failure.hint));
  }
  void operator()(const RankEnded& rank) const {
    line.add("attempt", rank.attempt).add("rank", rank.rank).add("local_rank", rank.local_rank);
    line.add("pid", rank.pid);
    add_end(line, rank.status);
    line.add_json("duration_seconds", seconds_of(rank.took)).add("cause_rank", rank.cause_rank);
  }
  void operator()(const RanksStopped& stopped) const {
    line.add("attempt", stopped.attempt).add("cause_rank", stopped.cause_rank).add("host", stopped.host);
    line.add("ranks", stopped.ranks);
  }
  void operator()(const StallSeen& stall) const {
    line.add("attempt", stall.attempt).add("why", stall.why).add("stacks", or_null(stall.stacks));
  }
  void operator()(const RestartBegun& restart) const {
    line.add("restart", restart.restart).add("max_restarts", restart.max_restarts);
    line.add("cause_rank", restart.cause_rank).add("why", or_null(restart.why));
    line.add_json("pause", seconds_of(restart.pause));
  }
  void operator()(const BadNodeSeen& seen) const { line.add("node", seen.bad.node).add("why", seen.bad.why); }
  void operator()(const RunEnded& end) const {
    line.add("code", end.code).add("restarts", end.restarts);
    line.add("class", end.why ? std::optional(model::word_of(*end.why)) : std::nullopt);
  }
};

/// In the order of the variant.
constexpr const char* k_names[] = {"run",           "attempt", "rank_started", "phase",
                                   "phase_summary", "failure", "rank_ended",   "stopped",
                                   "stall",         "restart", "bad_node",     "end"};
static_assert(std::size(k_names) == std::variant_size_v<RecordEvent>);

} // namespace

std::string render_time(std::chrono::system_clock::time_point time) {
  using std::chrono::milliseconds;
  const auto since = std::chrono::floor<milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const auto whole = static_cast<std::time_t>(seconds.count());
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>((since - seconds).count()));
  return text;
}

std::string render_event(const RecordEvent& event, const EventTime& when) {
  JsonLine line;
  line.add("event", k_names[event.index()]).add("time", render_time(when.time));
  line.add_json("seconds", seconds_of(when.seconds));
  std::visit(AddMembers{line}, event);
  return line.text() + "\n";
}

PhaseSummary find_slowest(const std::vector<RankPhaseEnded>& phases,
                          const std::vector<std::string>& host_of_rank) {
  assert(!phases.empty());
  auto sorted = phases;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.took < b.took; });
  const auto& last = sorted.back();
  return {.attempt = last.attempt,
          .phase = last.phase,
          .ranks = static_cast<unsigned>(sorted.size()),
          .median = sorted[(sorted.size() - 1) / 2].took,
          .slowest = last.rank,
          .host = last.rank < host_of_rank.size() ? host_of_rank[last.rank] : "",
          .took = last.took};
}

} // namespace hpcml::agent
