// SPDX-License-Identifier: MIT
// Failures of launch itself: a message for users, an exit code, a record for programs.
#pragma once

#include <optional>
#include <string>

#include "core/util/env_snapshot.hpp"
#include "core/util/log.hpp"
#include "core/util/result.hpp"
#include "hpcml/exit_code.hpp"
#include "hpcml/rank_label.hpp"
#include "run/launch/system.hpp"

namespace hpcml::launch {

/// Why launch ended without its program having run (or run to its end).
struct LauncherFailure {
  int exit_code = k_cannot_set_up;
  std::string phase; ///< what it was at: "layout", "gpus", "cache", "bind", "preflight", "exec", "run" …;
                     ///< part of the record's file name
  util::Error error;
  std::optional<RankLocation> rank; ///< unset: before the rank was known
  std::string host;
};

/// Returns the failure as one JSON object on one line; bytes that are not UTF-8 become U+FFFD.
std::string render_record(const LauncherFailure& failure);

/// Returns the failure as a message for users, of one or two lines.
std::string describe(const LauncherFailure& failure);

/// Writes the record into $HPCML_ERROR_DIR if that is set.
util::Status record_failure(const LauncherFailure& failure, const util::EnvSnapshot& env);

/// Logs the failure, writes its record, and returns its exit code.
int report_failure(const LauncherFailure& failure, const util::EnvSnapshot& env,
                   System& system = System::native());

/// Logs a message from a process that must not wait for its reader: the line is lost if standard
/// error cannot take it at once.
void log_without_waiting(util::LogLevel level, const std::string& text);

/// Waits until the output of a failed Slurm task has been read and sent. srun ends the step then (--kill-on-
/// bad-exit) and drops what it has not received: without this wait the last line was lost in 29 of 72 steps
/// (22.05, busy machine), with it in none of 72.
void wait_for_output_flush(const util::EnvSnapshot& env, System& system = System::native());

} // namespace hpcml::launch
