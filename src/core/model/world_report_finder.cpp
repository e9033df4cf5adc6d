// SPDX-License-Identifier: MIT
#include "core/model/world_report_finder.hpp"

#include <algorithm>
#include <array>

namespace hpcml::model {

namespace {

/// Accelerate's type is written by its name since Python 3.12, in some versions by its value.
constexpr std::array<std::string_view, 3> k_reports = {"GLOBAL_RANK: 0, MEMBER: 1/1",
                                                       "Distributed environment: DistributedType.NO",
                                                       "Distributed environment: NO"};
/// Longer than each of them and the character after it.
constexpr std::size_t k_longest = 64;

} // namespace

bool reports_world_of_one(std::string_view text) {
  return std::any_of(k_reports.begin(), k_reports.end(), [&](std::string_view report) {
    for (auto at = text.find(report); at != std::string_view::npos; at = text.find(report, at + 1)) {
      const auto after = text.substr(at + report.size());
      // "1/1" is also how "1/16" begins.
      if (!after.empty() && (after.front() == '\n' || after.front() == '\r' || after.front() == ' '))
        return true;
    }
    return false;
  });
}

void WorldReportFinder::add(std::string_view bytes) {
  if (x_found || x_searched >= k_search_limit) return;
  x_searched += bytes.size();
  x_end += bytes.substr(0, k_longest);
  x_found = reports_world_of_one(x_end) || reports_world_of_one(bytes);
  if (bytes.size() > k_longest) x_end = bytes.substr(bytes.size() - k_longest);
  if (x_end.size() > k_longest) x_end.erase(0, x_end.size() - k_longest);
}

} // namespace hpcml::model
