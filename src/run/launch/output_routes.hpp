// SPDX-License-Identifier: MIT
// What becomes of each rank's output: the one place that decides which streams go into files and which are
// shown. Pure.
#pragma once

#include <string>
#include <vector>

#include "run/launch/output_options.hpp"

namespace hpcml::launch {

/// The way of one stream of one rank.
///
/// Without a folder every stream is shown. With a folder of which nothing more is said, every stream goes
/// into its file and is shown; as soon as `redirects` or `tee` names any stream of any rank, only the streams
/// that they name go into files. One that both name is shown. One that is to be redirected while there is no
/// folder is dropped, as torchrun does with a log folder of /dev/null.
///
/// Also what only goes into a file comes through us and is not the rank's own descriptor: a full disk must
/// not end a rank, and its last lines and its silence are known without looking.
struct OutputRoute {
  unsigned rank = 0;
  unsigned local_rank = 0;
  bool is_error = false;    ///< standard error, else standard output
  bool shown = true;        ///< on our own output
  bool in_file = false;     ///< FOLDER/RANK/stdout.log or stderr.log
  bool filtered = false;    ///< lines of it go into FOLDER/filtered_stdout.log or filtered_stderr.log, too
  std::string prefix;       ///< of its shown lines
  std::string plain_prefix; ///< the same without a colour, for files
  /// True where a reader of ours that goes away takes nothing from the rank.
  bool outlives_reader() const { return in_file || !shown; }
};

/// The ranks of a node, for `plan_routes`.
struct RoutedRanks {
  unsigned first_rank = 0;
  unsigned count = 0;
  bool colour = false; ///< of our own prefix; one that was asked for is taken as it is
};

/// The routes of one stream of all ranks of a node, by local rank.
std::vector<OutputRoute> plan_routes(const OutputOptions& output_options, const RoutedRanks& ranks,
                                     bool is_error);

/// A wished prefix with its variables filled in, as Python's string.Template does: "$rank" and "${rank}" are
/// the same, "$$" is a dollar, and what is not known is left alone.
std::string fill_prefix(const OutputOptions& output_options, unsigned rank, unsigned local_rank);

/// Where the stream's bytes are kept, below the folder.
std::string log_name(const OutputRoute& route);
/// The file of filtered lines. Nodes that share a folder have one each: not every file system keeps lines
/// whole that several nodes append. The first has the name that torchrun gives it.
std::string filtered_name(bool is_error, unsigned node_rank);

} // namespace hpcml::launch
