// SPDX-License-Identifier: MIT
#include "diagnose/joblog/failures.hpp"

#include <algorithm>

#include "core/model/world_report_finder.hpp"
#include "core/util/text.hpp"
#include "diagnose/joblog/log_lines.hpp"

namespace hpcml::joblog {

namespace {

constexpr std::string_view k_task_exited = "Exited with exit code";

/// hpcml's own reports of the first failure, which precede all others. The last three are those of earlier
/// versions.
const std::vector<failures::KnownError>& hpcml_errors() {
  static constexpr const char* k_report =
      "read hpcml's report at this line: which rank failed first, its last lines, and what to do";
  static constexpr const char* k_heartbeat =
      "check the node of the agent for a hung file system, swapping or a stopped process, or set a longer "
      "--heartbeat-timeout";
  static const std::vector<failures::KnownError> k_rows = {
      {"hpcml: error: rank ", "", k_report},
      {"hpcml: error: ", "no heartbeat from", k_heartbeat},
      {"hpcml agent: rank ", "", k_report},
      {"hpcml launch: rank ", "", k_report},
      {"hpcml agent: ", "no heartbeat from", k_heartbeat}};
  return k_rows;
}

/// True if a line that starts like a report is none.
bool is_no_failure(std::string_view line) {
  return holds(line, "warning: ") || holds(line, " a world of 1 although ") ||
         holds(line, "'s program provides the rendezvous store") ||
         holds(line, "'s program serves the store");
}

/// Ranks that trained separately although there were several: no rank fails, and each exits with 0.
/// Lightning's line at the start of a process group, and Accelerate's state, as each process prints it.
const std::vector<failures::KnownError>& separate_worlds() {
  static constexpr const char* k_hint =
      "use srun hpcml launch to start the processes, and set ACCELERATE_USE_CPU=true for Accelerate on CPUs: "
      "each process trained its own model";
  static const std::vector<failures::KnownError> k_rows = {
      {"a world of 1 although WORLD_SIZE is", "hpcml: error", k_hint},
      {"those that train do so alone", "hpcml: warning", k_hint},
      {"GLOBAL_RANK: 0, MEMBER: 1/1", "", k_hint, false, 2},
      {"Distributed environment: DistributedType.NO", "", k_hint, false, 2},
  };
  return k_rows;
}

const std::vector<const failures::KnownError*>& all_rows() {
  static const std::vector<const failures::KnownError*> k_rows = [] {
    std::vector<const failures::KnownError*> rows;
    for (const auto* table : {&hpcml_errors(), &failures::known_errors(), &slurm_ends(), &separate_worlds()})
      for (const auto& row : *table) rows.push_back(&row);
    return rows;
  }();
  return k_rows;
}

} // namespace

void read_slurm_task(std::string_view line, LogFailure& failure) {
  constexpr std::string_view c_before = "srun: error: ";
  const auto at = line.find(c_before);
  if (at == std::string_view::npos) return;
  const auto rest = line.substr(at + c_before.size());
  const auto host = rest.substr(0, rest.find(": "));
  const auto message = rest.substr(std::min(host.size() + 2, rest.size()));
  if (host.empty() || host.size() > 253 || host.find(' ') != std::string_view::npos ||
      !message.starts_with("task"))
    return;
  failure.host = std::string(host);
  const auto number = message.substr(std::min(message.find(' ') + 1, message.size()));
  if (const auto rank = util::parse_unsigned(number.substr(0, number.find(':'))); rank && *rank < 1000000)
    failure.ranks.insert(static_cast<unsigned>(*rank));
}

const std::vector<failures::KnownError>& slurm_ends() {
  static constexpr const char* k_less_memory = "request more memory (--mem), or use less (including data "
                                               "loader workers and caches): a process exceeded "
                                               "the memory of the job";
  // slurmstepd's and srun's own words: src/slurmd/slurmstepd/mgr.c, src/srun/libsrun/launch.c,
  // api/step_launch.c.
  static const std::vector<failures::KnownError> k_ends = {
      {"DUE TO NODE FAILURE", "",
       "run the job again: a node was lost (find it with sacct -j JOB -o NodeList)"},
      {"oom_kill event", "", k_less_memory},
      {"oom-kill event", "", k_less_memory}, // up to 22.05
      {"Out Of Memory", "srun: error",
       "request more memory (--mem), or use less: a task exceeded the memory of the job"},
      {"DUE TO TIME LIMIT", "",
       "request a longer --time, or use --signal and a checkpoint from which the next job continues: the "
       "time limit was reached"},
      {"DUE TO PREEMPTION", "",
       "use --requeue and a checkpoint, or a QoS that is not preempted: a job with precedence took the "
       "nodes"},
      {k_task_exited, "srun: error", "read the lines of this task above: srun names it as the first to exit"},
  };
  return k_ends;
}

void FailureReader::begin_block(std::string_view block) {
  const auto& rows = all_rows();
  x_rows.clear();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (holds(block, rows[i]->text)) x_rows.push_back(i);
}

void FailureReader::read(std::uint64_t number, std::string_view line) {
  if (holds(line, "NCCL INFO")) return; // what it tries first, and does without
  for (const auto i : x_rows) {
    const auto& row = *all_rows()[i];
    if (!holds(line, row.text) || (!row.and_text.empty() && !holds(line, row.and_text))) continue;
    if (i < hpcml_errors().size() && is_no_failure(line)) continue;
    if (row.least > 1 && !model::reports_world_of_one(std::string(line) + '\n')) continue; // "1/16"
    auto& failure = x_found[i];
    if (failure.count++ == 0) {
      failure.line = number;
      failure.text = clipped(line);
      if (const auto nccl = parse_nccl_line(line)) failure.host = nccl->writer.host;
      read_slurm_task(line, failure);
      failure.hint =
          util::replace_all(std::string(row.hint), "{host}", failure.host.empty() ? "HOST" : failure.host);
    }
    if (const auto rank = rank_in_front(line); rank && failure.ranks.size() < k_most_ranks)
      failure.ranks.insert(*rank);
    return; // the first row is the cause of what the line says
  }
}

bool FailureReader::has_cause() const {
  return std::any_of(x_found.begin(), x_found.end(), [](const auto& found) {
    const auto& row = *all_rows()[found.first];
    return row.text != k_task_exited && found.second.count >= row.least;
  });
}

std::vector<LogFailure> FailureReader::found() const {
  std::vector<LogFailure> list;
  for (const auto& [row, failure] : x_found)
    if (failure.count >= all_rows()[row]->least) list.push_back(failure);
  return list;
}

} // namespace hpcml::joblog
