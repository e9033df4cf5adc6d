// SPDX-License-Identifier: MIT
#include "check/same_cause.hpp"

#include <algorithm>

namespace hpcml::check {
namespace {

bool is_same_place(const diag::Span& a, const diag::Span& b) {
  return a.line == b.line && a.column == b.column;
}

/// Whether both words touch: one begins within the other.
bool overlap(const diag::Span& a, const diag::Span& b) {
  return a.line == b.line && a.line > 0 && a.column < b.column + std::max(1U, b.length) &&
         b.column < a.column + std::max(1U, a.length);
}

/// Whether `later` follows from `first` alone: only words that are no options stand between them.
bool is_tail(const diag::Lines& places, std::string_view text, const diag::Span& first,
             const diag::Span& later) {
  if (first.line != later.line) return false;
  const auto from = places.offset_of(first);
  const auto between = text.substr(from, places.offset_of(later) - from);
  return between.find(" -") == std::string_view::npos && between.find("\t-") == std::string_view::npos;
}

} // namespace

void keep_one_per_cause(const diag::Lines& lines, std::string_view text, Findings& findings) {
  // Findings are in order: what says the same stands close before or behind.
  constexpr std::size_t k_close = 32;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto& what = findings[i].what;
    bool again = false;
    const auto is_here = [&](std::size_t j) { return findings[j].what.span.line == what.span.line; };
    for (auto j = kept; j-- > 0 && !again && kept - j <= k_close && is_here(j);) {
      const auto& other = findings[j].what;
      if (what.code == other.code && is_same_place(what.span, other.span))
        again = what.span.line > 0 || what.message == other.message;
      else if (what.code == "slurm/operand" && other.code == what.code)
        again = is_tail(lines, text, other.span, what.span);
    }
    if (what.code == "safety/placeholder") {
      const auto says = [&](std::size_t j) {
        return findings[j].what.code != what.code && overlap(findings[j].what.span, what.span);
      };
      for (auto j = kept; j-- > 0 && !again && kept - j <= k_close && is_here(j);) again = says(j);
      for (auto j = i + 1; j < findings.size() && !again && j - i <= k_close && is_here(j); ++j)
        again = says(j);
    }
    if (again) continue;
    if (kept != i) findings[kept] = std::move(findings[i]);
    ++kept;
  }
  findings.resize(kept);
}

} // namespace hpcml::check
