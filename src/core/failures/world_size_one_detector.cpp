// SPDX-License-Identifier: MIT
#include "core/failures/world_size_one_detector.hpp"

#include <algorithm>

namespace hpcml::failures {

bool holds_word(std::string_view text, std::string_view part, bool is_complete) {
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    const auto after = text.substr(at + part.size());
    if (after.empty() ? is_complete : std::string_view("\n\r ").find(after.front()) != std::string_view::npos)
      return true;
  }
  return false;
}

bool reports_world_of_one(std::string_view text) {
  return std::any_of(k_world_reports.begin(), k_world_reports.end(),
                     [&](std::string_view report) { return holds_word(text, report, false); });
}

void WorldSizeOneDetector::add(std::string_view bytes) {
  if (x_found || x_searched >= k_search_limit) return;
  x_searched += bytes.size();
  constexpr std::size_t k_longest = 64; // longer than each report and the character after it
  x_end += bytes.substr(0, k_longest);
  x_found = reports_world_of_one(x_end) || reports_world_of_one(bytes);
  if (bytes.size() > k_longest) x_end = bytes.substr(bytes.size() - k_longest);
  if (x_end.size() > k_longest) x_end.erase(0, x_end.size() - k_longest);
}

} // namespace hpcml::failures
