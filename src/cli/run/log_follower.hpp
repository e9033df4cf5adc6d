// SPDX-License-Identifier: MIT
// A growing file, read piece by piece.
#pragma once

#include <string>

namespace hpcml::cli {

/// Reads what a log has got since the last call. The file may not be there yet; one that became shorter is
/// read from its start.
class LogFollower {
public:
  explicit LogFollower(std::string path) : x_path(std::move(path)) {}
  /// At most 1 MiB; empty when there is nothing new.
  std::string read_more();
  bool found() const { return x_found; }
  const std::string& path() const { return x_path; }

private:
  std::string x_path;
  unsigned long long x_offset = 0;
  bool x_found = false;
};

} // namespace hpcml::cli
