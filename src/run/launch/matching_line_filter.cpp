// SPDX-License-Identifier: MIT
#include "run/launch/matching_line_filter.hpp"

#include <algorithm>

namespace hpcml::launch {

MatchingLineFilter::MatchingLineFilter(std::vector<std::string> needles, std::string prefix)
    : x_needles(std::move(needles)), x_prefix(std::move(prefix)) {
  for (const auto& needle : x_needles) x_overlap = std::max(x_overlap, needle.size());
}

bool MatchingLineFilter::holds_one(std::string_view line) const {
  return std::any_of(x_needles.begin(), x_needles.end(),
                     [&](const std::string& needle) { return line.find(needle) != std::string_view::npos; });
}

void MatchingLineFilter::take_long_part(std::string& out) {
  if (!x_passing && !holds_one(x_pending)) {
    x_pending.erase(0, x_pending.size() - std::min(x_overlap, x_pending.size()));
    return;
  }
  out += (x_passing ? "" : x_prefix) + x_pending;
  x_passing = true;
  x_pending.clear();
}

std::string MatchingLineFilter::add(std::string_view bytes) {
  std::string out;
  if (x_needles.empty()) return out;
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const auto end = newline == std::string_view::npos ? bytes.size() : newline + 1;
    x_pending.append(bytes.substr(0, end));
    bytes.remove_prefix(end);
    if (newline == std::string_view::npos) break;
    if (x_passing || holds_one(x_pending)) out += (x_passing ? "" : x_prefix) + x_pending;
    x_pending.clear();
    x_passing = false;
  }
  if (x_pending.size() > k_longest) take_long_part(out);
  return out;
}

std::string MatchingLineFilter::finish() {
  return x_pending.empty() && !x_passing ? std::string() : add("\n");
}

} // namespace hpcml::launch
