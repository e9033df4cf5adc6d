// SPDX-License-Identifier: MIT
// The growing files of a job's output, as one stream.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/log_follower.hpp"

namespace hpcml::cli {

/// What a job has written since the last call.
struct OutputPiece {
  bool is_error = false; ///< of a file for the standard error alone
  std::string text;
};

/// Reads a job's files as they grow. With several files, as those of array tasks, a piece has whole lines, so
/// that lines of two files do not mix.
class JobOutput {
public:
  /// Files of an earlier job are not read, if `earlier` is set.
  explicit JobOutput(std::optional<EarlierLogCriteria> earlier = std::nullopt) : x_earlier(earlier) {}
  /// Reads this file as well, each once. A path that is not absolute is ignored: Slurm reports none.
  void follow(const std::string& path, bool is_error = false);
  std::vector<OutputPiece> read_more();
  /// The same at the end of the job, and the lines without an end.
  std::vector<OutputPiece> read_rest();
  /// True if one of the files exists.
  bool found() const;

private:
  struct File {
    LogFollower log;
    bool is_error;
    std::string rest; ///< a line that has no end yet
  };
  std::optional<EarlierLogCriteria> x_earlier;
  std::map<std::string, File> x_files; ///< by path
};

} // namespace hpcml::cli
