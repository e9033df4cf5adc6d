// SPDX-License-Identifier: MIT
// Decides which output streams of the ranks are written to files and which are shown. Pure.
#pragma once

#include <string>
#include <vector>

#include "run/resolve/output_options.hpp"

namespace hpcml::launch {

/// The destination of one stream of one rank.
///
/// Without a directory every stream is shown. With a directory and no other option, every stream is written
/// to its file and shown. If `redirects` or `tee` names any stream of any rank, only the named streams are
/// written to files. A stream that both name is shown. A stream to redirect without a directory is dropped,
/// as torchrun does with the log directory /dev/null.
///
/// Streams that are only written to files pass through this process as well, so that a full disk does not
/// stop a rank, and its last lines and its activity are known.
struct OutputRoute {
  unsigned rank = 0;
  unsigned local_rank = 0;
  bool is_error = false; ///< standard error, else standard output
  bool shown = true;     ///< on our own output
  bool in_file = false;  ///< DIRECTORY/RANK/stdout.log or stderr.log
  bool filtered = false; ///< lines are also written to DIRECTORY/filtered_stdout.log or filtered_stderr.log
  std::string prefix;    ///< of its shown lines
  std::string plain_prefix; ///< the same without a colour, for files
  /// True if the rank loses no output when the reader of this process disappears.
  bool outlives_reader() const { return in_file || !shown; }
};

/// The ranks of a node, for `plan_routes`.
struct LocalRankRange {
  unsigned first_rank = 0;
  unsigned count = 0;
  bool colour = false; ///< for hpcml's own prefix; a requested prefix is used unchanged
};

/// The routes of one stream of all ranks of a node, by local rank.
std::vector<OutputRoute> plan_routes(const OutputOptions& output_options, const LocalRankRange& ranks,
                                     bool is_error);

/// Returns the requested prefix with its variables replaced, as Python's string.Template does: "$rank" and
/// "${rank}" are equal, "$$" is a dollar sign, and unknown variables are unchanged.
std::string fill_prefix(const OutputOptions& output_options, unsigned rank, unsigned local_rank);

/// Returns the file of a rank's stream below the directory of logs.
std::string log_name(unsigned rank, bool is_error);
/// Returns the file of filtered lines. Nodes that share a directory have one each, because not every file
/// system keeps appended lines of several nodes intact. The first has the name that torchrun uses.
std::string filtered_name(bool is_error, unsigned node_rank);

} // namespace hpcml::launch
