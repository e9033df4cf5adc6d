// SPDX-License-Identifier: MIT
// What to do about errors of CUDA, NCCL, torch, MPI and the system that a rank's last lines describe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/failures/rank_failure.hpp"

namespace hpcml::failures {

/// A line that contains `text` and `and_text` gets the hint. The comparison is case-sensitive.
struct KnownError {
  std::string_view text;
  std::string_view and_text; ///< empty: nothing more is asked
  std::string_view hint;     ///< a clause; "{host}" in it is the rank's
  bool of_node = false;      ///< no program makes it: the node is bad
  unsigned least = 1;        ///< lines in a log that make a failure
};

/// In the order in which they are looked for: the cause before what follows from it.
const std::vector<KnownError>& known_errors();
/// The hint of the first known error in the rank's message, traceback or last lines; else one for how it
/// ended (SIGKILL, SIGBUS, SIGILL). Empty where nothing is known. What the kernel reports about a GPU goes
/// first.
std::string find_hint(const RankFailure& note);

/// A fault in the rank's text that no program causes, "uncorrectable ECC error", or one of a GPU that its
/// node's kernel has reported; empty: nothing of that kind. Its node is faulty.
std::string find_node_fault(const RankFailure& note);

} // namespace hpcml::failures
