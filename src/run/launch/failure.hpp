// SPDX-License-Identifier: MIT
// launch's own failures: a sentence for people, an exit code, a record for programs.
#pragma once

#include <optional>
#include <string>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "hpcml/exit_code.hpp"

namespace hpcml::launch {

/// Why launch ended without its program having run (or run to its end).
struct Failure {
  int exit_code = k_cannot_set_up;
  std::string phase; ///< what it was at: "layout", "gpus", "cache", "bind", "preflight", "exec", "run" …;
                     ///< part of the record's file name
  util::Error error;
  std::optional<unsigned> rank; ///< unset: before the rank was known
  std::string host;
};

/// The failure as one JSON object on one line; bytes that are not UTF-8 become U+FFFD.
std::string render_record(const Failure& failure);

/// The failure as sentences for people.
std::string describe(const Failure& failure);

/// Writes the record into $HPCML_ERROR_DIR. Returns what is left to be said: the record itself where there is
/// no such folder and standard error is no terminal, or why it could not be written.
std::string record_failure(const Failure& failure, const util::EnvSnapshot& env);

/// Says the failure on standard error and writes its record: into $HPCML_ERROR_DIR, else (not on a terminal)
/// as a second line on standard error. Returns the exit code. What cannot be written is not worth a second
/// failure.
int report_failure(const Failure& failure, const util::EnvSnapshot& env);

/// Logs a line at level info, from a process that must not wait for its reader: the line is lost if standard
/// error cannot take it at once.
void log_without_waiting(const std::string& line);

/// Before a task of Slurm's ends badly: what it has said is read, and has time to arrive. srun, which ends
/// the step then (--kill-on-bad-exit), drops what it has not got yet: of a task that ended at once the last
/// line was lost in 29 of 72 steps (22.05, busy machine), and in none of 72 where it waited for so long.
void wait_for_output_flush(const util::EnvSnapshot& env);

} // namespace hpcml::launch
