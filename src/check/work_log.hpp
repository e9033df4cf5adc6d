// SPDX-License-Identifier: MIT
// The files into which a script puts what its programs print.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/subject.hpp"

namespace hpcml::check {

/// A file that the job's work empties and then writes: `python train.py > train.log`.
struct WorkLog {
  /// What writes it.
  enum class Writer : std::uint8_t { redirect, tee, step };
  std::string name;
  diag::TextRange place;
  Writer writer = Writer::redirect;
  bool condition = false; ///< the command may not run
  bool python = false;    ///< what Python programs print is a log; others print their results
};

/// Those whose names are the same for every job and every task of an array, in the order of the script. None
/// of loops and functions, and none in a directory that other jobs may not share.
std::vector<WorkLog> find_fixed_logs(const LintContext& subject);
/// What to do so that the log has its own name by the variable: a hint.
std::string hint_for(const WorkLog& log, const std::string& variable);

} // namespace hpcml::check
