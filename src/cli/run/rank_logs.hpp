// SPDX-License-Identifier: MIT
// The log files of one rank, which the agents of a job write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::cli {

/// Where the log files of a rank are.
struct RankLogLocation {
  std::string directory; ///< absolute; that of --log-dir
  unsigned rank = 0;
};

/// A log file of a rank.
struct RankLog {
  std::string path;
  bool is_error = false;
};

/// Returns the value of --log-dir in a script; empty if no command of the script has one.
std::string find_log_dir(std::string_view script);

/// Returns the files of all steps and starts of the job `job_id` that exist.
std::vector<RankLog> find_rank_logs(const RankLogLocation& location, const std::string& job_id);

} // namespace hpcml::cli
