// SPDX-License-Identifier: MIT
// A growing file, read piece by piece.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace hpcml::cli {

/// Facts by which a file at the path of a log is recognised as that of an earlier job.
struct EarlierLogCriteria {
  std::chrono::nanoseconds
      submitted;        ///< time of submission since 1970: a file written before it is not the job's log
  bool appends = false; ///< --open-mode=append: the earlier log stays in the file
};

/// Reads what was appended to a log since the last call. The file need not exist yet; one that became shorter
/// is read from its start.
class LogFollower {
public:
  explicit LogFollower(std::string path, std::optional<EarlierLogCriteria> earlier = std::nullopt)
      : x_path(std::move(path)), x_earlier(earlier) {}
  /// Returns at most 1 MiB; empty if there is nothing new.
  std::string read_more();
  bool found() const { return x_found; }
  const std::string& path() const { return x_path; }

private:
  /// A version of the file.
  struct Version {
    unsigned long long inode = 0, size = 0;
    std::chrono::nanoseconds written{0};
    bool operator==(const Version&) const = default;
  };
  bool is_earlier(const Version& version);

  std::string x_path;
  std::optional<EarlierLogCriteria> x_earlier; ///< until the file is known to be the job's
  std::optional<Version> x_version;            ///< of the earlier log
  unsigned long long x_offset = 0;
  bool x_found = false;
};

} // namespace hpcml::cli
