// SPDX-License-Identifier: MIT
// Renders the helper's JSON lines as a table and a result for users. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hpcml::preflight {

/// What one run of the helper said.
struct PreflightResult {
  std::vector<std::string> events; ///< the JSON lines, without a rank prefix, in the order they came
  std::string table; ///< from the summary; empty unless this process ran rank 0 and all went well
  std::optional<std::string> faulty_rank; ///< message, hint and exclude list; empty unless a phase failed
  bool first = false;                     ///< rank 0 is among those that said something
  bool speaks = false; ///< this rank names the faulty rank (rank 0, or another one without rank 0)
};

/// Reads the helper's output; lines that are not JSON objects are skipped. `launch` may have put "[3] "
/// before a line.
PreflightResult read_preflight(const std::string& output);

} // namespace hpcml::preflight
