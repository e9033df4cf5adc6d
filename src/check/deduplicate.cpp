// SPDX-License-Identifier: MIT
#include "check/deduplicate.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

bool is_same_place(const Finding& a, const Finding& b) {
  return a.place.offset == b.place.offset && (a.place.length == 0) == (b.place.length == 0);
}

/// Whether both words touch: one begins within the other.
bool overlap(diag::Place a, diag::Place b) {
  return a.length > 0 && b.length > 0 && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

/// Whether `later`, on the same line, follows from `first` alone: only words that are no options stand
/// between them.
bool is_tail(std::string_view text, const Finding& first, const Finding& later) {
  if (first.what.span.line != later.what.span.line) return false;
  const auto between = text.substr(first.place.offset, later.place.offset - first.place.offset);
  return between.find(" -") == std::string_view::npos && between.find("\t-") == std::string_view::npos;
}

/// Whether the first of these is only another view of the second, where both stand on one line.
bool is_weaker(std::string_view code, std::string_view weaker_than) {
  return (code == "launch/master-address" && weaker_than == "launch/node-rank") ||
         (code == "slurm/short-time" && weaker_than == "slurm/foreign-directive") ||
         (code == "slurm/array-log" && weaker_than == "slurm/variable-in-directive");
}

/// An array's log whose name has the task's number in a variable is fixed with the variable.
bool is_weaker(const diag::Diagnostic& what, const diag::Diagnostic& weaker_than) {
  return is_weaker(what.code, weaker_than.code) &&
         (what.code != "slurm/array-log" || what.message.find("SLURM_ARRAY") != std::string::npos);
}

/// Whether it refuses the first word of a gap to be filled in, "{number of nodes}": the others are its tail.
bool refuses_gap(const diag::Diagnostic& error) {
  return error.code.starts_with("slurm/") && (error.message.find(" cannot be '{") != std::string::npos ||
                                              error.message.find(" cannot be '<") != std::string::npos);
}

/// Whether `error` refuses the value in which `variable` stands, which sbatch does not expand.
bool refuses_variable(std::string_view text, const Finding& error, const Finding& variable) {
  return error.what.severity == diag::Severity::error && error.what.code.starts_with("slurm/") &&
         error.what.message.find(" cannot be '") != std::string::npos &&
         (overlap(error.place, variable.place) || is_tail(text, error, variable));
}

} // namespace

void deduplicate(std::string_view text, Findings& findings) {
  // Findings are in order: what says the same stands close before or behind.
  constexpr std::size_t k_close = 32;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto& what = findings[i].what;
    bool again = false;
    const auto is_here = [&](std::size_t j) { return findings[j].what.span.line == what.span.line; };
    for (auto j = kept; j-- > 0 && !again && kept - j <= k_close && is_here(j);) {
      const auto& stronger = findings[j].what;
      if (what.code == stronger.code && is_same_place(findings[i], findings[j]))
        again = what.span.line > 0 || what.message == stronger.message;
      else if (what.code == "slurm/unexpected-argument" &&
               (stronger.code == what.code || refuses_gap(stronger)))
        again = is_tail(text, findings[j], findings[i]);
    }
    if (what.code == "safety/placeholder") {
      const auto says = [&](std::size_t j) {
        return findings[j].what.code != what.code && overlap(findings[j].place, findings[i].place);
      };
      for (auto j = kept; j-- > 0 && !again && kept - j <= k_close && is_here(j);) again = says(j);
      for (auto j = i + 1; j < findings.size() && !again && j - i <= k_close && is_here(j); ++j)
        again = says(j);
    }
    // Those before are kept at [0, kept), those behind are still to come.
    const auto any_here = [&](const auto& is_it) {
      for (auto j = kept; j-- > 0 && kept - j <= k_close && is_here(j);)
        if (is_it(j)) return true;
      for (auto j = i + 1; j < findings.size() && j - i <= k_close && is_here(j); ++j)
        if (is_it(j)) return true;
      return false;
    };
    again = again || any_here([&](std::size_t j) { return is_weaker(what, findings[j].what); });
    if (!again && what.code == "slurm/variable-in-directive")
      again = any_here([&](std::size_t j) {
        if (!refuses_variable(text, findings[j], findings[i])) return false;
        auto& error = findings[j].what;
        error.message += ": nothing is expanded in a directive";
        error.hint = what.hint;
        return true;
      });
    // "#SLURM_JOB=x" is a comment to its author.
    if (!again && what.code == "slurm/prefix")
      again = any_here([&](std::size_t j) {
        auto& operand = findings[j].what;
        const auto end = findings[i].place.offset + findings[i].place.length;
        if (operand.code != "slurm/unexpected-argument" || findings[j].place.offset != end) return false;
        operand.message = "sbatch reads what begins with #SLURM as a directive: " + operand.message;
        operand.hint = "put a blank behind the # of a comment; write #SBATCH for a directive";
        return true;
      });
    if (again) continue;
    if (kept != i) findings[kept] = std::move(findings[i]);
    ++kept;
  }
  findings.resize(kept);
}

} // namespace hpcml::check
