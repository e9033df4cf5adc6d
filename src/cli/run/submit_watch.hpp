// SPDX-License-Identifier: MIT
// Following submitted jobs: their state, log and exit code.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/run/accepted_batch_job.hpp"
#include "cli/run/log_follower.hpp"
#include "cli/run/rank_logs.hpp"

namespace hpcml::cli {

/// Exit code if the user stopped watching; the jobs continue.
constexpr int k_detached = 130;

/// How jobs are followed.
struct FollowOptions {
  /// Between two questions to Slurm: short at first, long for a job that waits for hours.
  std::chrono::milliseconds min_interval = std::chrono::seconds(1), max_interval = std::chrono::seconds(30);
  std::chrono::milliseconds log_delay{150}; ///< until a file system shows what another node wrote
  unsigned max_failures = 20;               ///< unanswered questions in a row
  std::optional<EarlierLogCriteria> earlier_log = std::nullopt; ///< job numbers begin at 1 in each rehearsal
  bool copies_all = false; ///< also the output of array tasks and a separate file of the standard error
  bool ends_jobs = false;  ///< jobs end with the watching
  bool is_quiet = false;   ///< only failures on stderr
  std::optional<RankLogLocation> rank_logs = std::nullopt; ///< to follow in place of the job's log
};

/// Follows the jobs in order to their end. The log is written to stdout, everything else to stderr. Returns
/// the last job's exit code (of an array the highest), 5 if Slurm does not report it, 130 if Ctrl-C stopped
/// watching.
int run_watch(const std::vector<AcceptedBatchJob>& jobs, const Context& context,
              const FollowOptions& options = {});
/// Returns the job of that number, to be watched; prints an error and sets `exit_code` if there is none.
std::vector<AcceptedBatchJob> find_running(const std::string& id, const Context& context, int& exit_code);

} // namespace hpcml::cli
