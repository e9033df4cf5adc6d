// SPDX-License-Identifier: MIT
#include "diagnose/joblog/failures.hpp"

#include <algorithm>

#include "core/model/world_report.hpp"
#include "core/util/text.hpp"
#include "diagnose/joblog/log_lines.hpp"

namespace hpcml::joblog {

namespace {

constexpr std::string_view k_task_exited = "Exited with exit code";

/// What hpcml says itself of the first failure; it is looked for before all else.
const std::vector<failures::KnownError>& hpcml_errors() {
  static const std::vector<failures::KnownError> k_words = {
      {"hpcml agent: rank ", "",
       "hpcml's own report stands there: who failed first, its last lines, and what to do"},
      {"hpcml launch: rank ", "", "hpcml's own report stands there"},
      {"hpcml agent: ", "no heartbeat from",
       "an agent stopped working: check its node for a hung file system, swapping or a stopped process; set "
       "a "
       "longer --heartbeat-timeout if its file system often hangs"}};
  return k_words;
}

/// What hpcml says of a rank that is well.
bool is_no_failure(std::string_view line) {
  return holds(line, "warning: ") || holds(line, "'s program serves the store") ||
         holds(line, " serves the store:");
}

/// Ranks that trained alone although there were several: no rank fails, and each ends with 0. Lightning's
/// line at the start of a process group, and Accelerate's state, as each process prints it.
const std::vector<failures::KnownError>& separate_worlds() {
  static constexpr const char* k_hint =
      "each process trained its own model: start them with srun hpcml launch, and for Accelerate on CPUs set "
      "ACCELERATE_USE_CPU=true";
  static const std::vector<failures::KnownError> k_rows = {
      {"a world of 1 although WORLD_SIZE is", "hpcml: error", k_hint},
      {"each ran as a world of 1", "hpcml: warning", k_hint},
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
  static constexpr const char* k_less_memory =
      "a process used more memory than the job has: more --mem, or less in use (data loader workers and "
      "caches of a rank count, too)";
  // slurmstepd's and srun's own words: src/slurmd/slurmstepd/mgr.c, src/srun/libsrun/launch.c,
  // api/step_launch.c.
  static const std::vector<failures::KnownError> k_ends = {
      {"DUE TO NODE FAILURE", "",
       "a node was lost: sacct -j JOB -o NodeList and the site know which; submit again"},
      {"oom_kill event", "", k_less_memory},
      {"oom-kill event", "", k_less_memory}, // up to 22.05
      {"Out Of Memory", "srun: error",
       "a task used more memory than the job has: more --mem, or less in use"},
      {"DUE TO TIME LIMIT", "",
       "the job's time was over: a longer --time, or --signal and a checkpoint from which the next job "
       "goes on"},
      {"DUE TO PREEMPTION", "",
       "a job that goes before this one took its nodes: --requeue and a checkpoint, or a QoS that is not "
       "preempted"},
      {k_task_exited, "srun: error", "that task ended first of those that srun names; read its lines above"},
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
