// SPDX-License-Identifier: MIT
// A growing file, read piece by piece.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace hpcml::cli {

/// How a file at the path of a log may be of an earlier job.
struct EarlierLog {
  std::chrono::nanoseconds
      submitted;        ///< since 1970, when the job was: what was written before is not its log
  bool appends = false; ///< --open-mode=append: the earlier log stays in the file
};

/// Reads what a log has got since the last call. The file may not be there yet; one that became shorter is
/// read from its start.
class LogFollower {
public:
  explicit LogFollower(std::string path, std::optional<EarlierLog> earlier = std::nullopt)
      : x_path(std::move(path)), x_earlier(earlier) {}
  /// At most 1 MiB; empty when there is nothing new.
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
  std::optional<EarlierLog> x_earlier; ///< until the file is known to be the job's
  std::optional<Version> x_version;    ///< of the earlier log
  unsigned long long x_offset = 0;
  bool x_found = false;
};

} // namespace hpcml::cli
