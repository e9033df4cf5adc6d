// SPDX-License-Identifier: MIT
// Where what the ranks of a node write is to go: files, our own output, or both. As torchrun's -r, -t,
// --log-dir and --local-ranks-filter ask for it; output_routes.hpp says what follows from what.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace hpcml::launch {

/// Standard output, standard error, both or none.
struct OutputStreams {
  bool out = false;
  bool err = false;
  bool operator==(const OutputStreams&) const = default;
};

/// Streams of each local rank: those that are named, and the rest.
struct StreamsOfRanks {
  OutputStreams others;
  std::map<unsigned, OutputStreams> named; ///< by local rank
  OutputStreams of(unsigned local_rank) const {
    const auto found = named.find(local_rank);
    return found == named.end() ? others : found->second;
  }
};

struct OutputOptions {
  std::string directory;    ///< RANK/stdout.log and stderr.log in it, appended to; empty: no files
  StreamsOfRanks redirects; ///< into files, and not shown
  StreamsOfRanks tee;       ///< into files, and shown
  std::set<unsigned> shown; ///< local ranks whose output is shown; empty: all
  std::vector<std::string>
      out_filters; ///< lines with one of these are also written to DIRECTORY/filtered_stdout.log
  std::vector<std::string> err_filters; ///< and DIRECTORY/filtered_stderr.log
  std::string prefix; ///< of shown lines; "${role_name}", "${local_rank}" and "${rank}" in it are filled in;
                      ///< empty: "[RANK] "
  bool only_tee_has_prefix = false; ///< the lines of other streams that are shown have none
  std::string role = "default";     ///< for `prefix`
};

} // namespace hpcml::launch
