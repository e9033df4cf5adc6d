// SPDX-License-Identifier: MIT
// What Slurm says about a job: `scontrol show job` as values, and in words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/retry_classes.hpp"

namespace hpcml::slurm {

/// Where a job is in its life.
enum class JobPhase { waiting, running, ended };

/// One job, or one task (or range of waiting tasks) of an array.
struct JobRecord {
  std::string id;          ///< "12"; for a task of an array its own number
  std::string array_id;    ///< the array's number, or empty
  std::string array_tasks; ///< "3", "4-9%2", or empty
  std::string name;
  std::string state;      ///< "PENDING", without what follows it
  std::string reason;     ///< "Priority"; empty for none
  std::string start;      ///< "2026-11-21T16:45:40", for a waiting job an estimate; empty: not known
  std::string run_time;   ///< "00:03:10"
  std::string time_limit; ///< "01:00:00"
  std::string nodes;      ///< hostlist; empty before the job has nodes
  std::string log;        ///< absolute path of the standard output
  std::string error_log;  ///< the same of the standard error
  std::string work_dir;   ///< directory that the script starts in
  std::string batch_host; ///< where the batch script runs; empty: nowhere yet, or it is not known
  std::string preempted;  ///< time of its preemption by another job; empty: none
  unsigned restarts = 0;  ///< SLURM_RESTART_COUNT
  int exit_code = 0;
  int signal = 0; ///< that ended the batch script, or 0

  JobPhase phase() const;
};

/// The records in the text of `scontrol show job ID`; lines that say nothing known are passed over.
std::vector<JobRecord> read_job_records(std::string_view text);
/// The records in the text of `sacct -X -n -P --format=JobID,JobIDRaw,State,ExitCode,NodeList`.
std::vector<JobRecord> read_accounting(std::string_view text);
/// The phase of a state of Slurm's ("PENDING"); one that is not known counts as ended.
JobPhase phase_of(std::string_view state);

/// A waiting reason for users ("other jobs go first"), and whether waiting can never end.
struct PendingReason {
  std::string text; ///< empty for a reason that is not known
  bool hopeless = false;
};
/// The words for a reason of Slurm's ("Priority").
PendingReason explain_reason(std::string_view reason);

/// How the job is, as the end of a sentence: "pending (Priority: other jobs go first), starts about 17:05, in
/// 20 min". `now` has the form of the record's times, in the same time zone.
std::string describe_job(const JobRecord& job, std::string_view now);
/// Seconds from one "YYYY-MM-DDTHH:MM:SS" to another; nothing if one is no such time.
std::optional<long long> seconds_between(std::string_view from, std::string_view to);
/// "40 s", "20 min", "3 h 05 min", "2 d 4 h".
std::string describe_duration(long long seconds);
/// Why Slurm ends the job, or has; nothing where the record does not state.
std::optional<model::FailureClass> why_ended(const JobRecord& job);
/// The same of a job that has ended, whatever its end: `program` where Slurm has no other reason for its
/// code.
std::optional<model::FailureClass> class_of_end(const JobRecord& job);
/// What a program that waited for the job should exit with: the job's own code, 128 + signal, 1 for an end by
/// Slurm without one.
int exit_code_of(const JobRecord& job);

} // namespace hpcml::slurm
