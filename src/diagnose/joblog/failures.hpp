// SPDX-License-Identifier: MIT
// Known failures in a log: rows of the table in core/failures.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/failures/failure_table.hpp"

namespace hpcml::joblog {

inline constexpr std::size_t k_most_ranks = 4096; ///< that are remembered of a failure

/// A failure and where it was found.
struct LogFailure {
  std::uint64_t line = 0; ///< the first, from 1
  std::string text;       ///< of that line, clipped
  std::uint64_t count = 0;
  std::set<unsigned> ranks; ///< from the prefixes of the lines, up to k_most_ranks
  std::string host;         ///< of the first; empty: unknown
  std::string hint;
  /// Its row in the table; null: an error that the log names, of which hpcml knows nothing.
  const failures::KnownError* error = nullptr;
};

/// Reads host and tasks from a line of srun: "srun: error: nid000012: task 3: Out Of Memory".
void read_slurm_task(std::string_view line, LogFailure& failure);

/// Reads a log block by block: rows without a match in a block are not searched in its lines.
class FailureReader {
public:
  /// Chooses what may be in the block, which is made of whole lines.
  void begin_block(std::string_view block);
  /// True if a line of the block may match.
  bool is_worth() const { return !x_rows.empty(); }
  void read(std::uint64_t number, std::string_view line);
  /// True if more was found than that Slurm's tasks exited.
  bool has_cause() const;
  /// What was found, causes before what follows from them.
  std::vector<LogFailure> found() const;

private:
  std::vector<std::size_t> x_rows; ///< of the table
  std::map<std::size_t, LogFailure> x_found;
};

} // namespace hpcml::joblog
