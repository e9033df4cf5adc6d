// SPDX-License-Identifier: MIT
// The form in which all reports for users state a failure. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/failures/rank_failure.hpp"

namespace hpcml::failures {

/// A failure for users.
struct FailureReport {
  std::string what;                 ///< who failed and how, or the line that shows it
  std::vector<std::string> details; ///< lines below it
  std::vector<std::string> hints;   ///< what to do, most likely first
};

/// Returns what failed, its details below it and a line "hint: …" for each hint.
std::vector<std::string> render_lines(const FailureReport& report);

/// Returns "rank 9/16 (node002, local 1, GPU 1) was killed by SIGSEGV after 12.3 s". `world_size` 0: unknown.
std::string render_failed_rank(const RankFailure& failure, unsigned world_size);

/// Returns who failed and how, out of memory or not, its message, its traceback, the last lines of its
/// standard error that are not in that, and what to do: at most 59 lines of at most 400 characters, control
/// characters shown and not sent.
FailureReport make_report(const RankFailure& failure, unsigned world_size);

} // namespace hpcml::failures
