// SPDX-License-Identifier: MIT
// Lines about clients that a server has rejected. Their number is bounded, whatever the clients do. Pure.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace hpcml::store {

class RejectionLog {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// Returns a line about the first rejection of each peer's address, for the first few addresses. The others
  /// are counted.
  std::vector<std::string> add(const std::string& peer, const std::string& why, Time now);
  /// Returns a line about those that were counted: after a minute, then each time ten times as late.
  std::vector<std::string> tick(Time now);

private:
  std::set<std::string> x_peers; ///< that a line was written about
  std::size_t x_counted = 0;     ///< since the last line
  std::string x_last;            ///< of these: the peer and why
  Time x_due{};
  std::chrono::seconds x_interval{60};
};

} // namespace hpcml::store
