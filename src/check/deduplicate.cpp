// SPDX-License-Identifier: MIT
#include "check/deduplicate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace hpcml::check {
namespace {

constexpr std::string_view k_placeholder = "safety/placeholder";

bool is_same_place(const Finding& a, const Finding& b) {
  return a.place.offset == b.place.offset && (a.place.length == 0) == (b.place.length == 0);
}

/// True if both are one finding: the parts of a heterogeneous job share a line.
bool is_repeated(const Finding& own, const Finding& earlier) {
  return own.what.code == earlier.what.code && is_same_place(own, earlier) &&
         (own.what.location.line > 0 || own.what.message == earlier.what.message);
}

/// True if the rule yields to the rule with this ID.
bool is_meant(const RulePrecedence& yield, std::string_view own_code, std::string_view code) {
  if (yield.to.empty()) return code != own_code;
  return yield.to.back() == '/' ? code.starts_with(yield.to) : code == yield.to;
}

/// True if a site's finding is about a value that is not filled in. The placeholder's finding keeps the
/// worse severity of both.
bool is_of_placeholder(const Finding& own, Finding& stronger) {
  if (stronger.what.code != k_placeholder || !own.what.code.starts_with("site/") ||
      !overlap({{}, own, stronger}))
    return false;
  stronger.what.severity = std::min(stronger.what.severity, own.what.severity);
  return true;
}

/// Of a template only the finding stays that states it.
bool keep_template_only(Findings& findings) {
  const auto is_template = [](const Finding& finding) {
    return finding.what.code == k_placeholder &&
           finding.what.message.starts_with("this script is a template");
  };
  const auto found = std::find_if(findings.begin(), findings.end(), is_template);
  if (found == findings.end()) return false;
  auto only = std::move(*found);
  findings.clear();
  findings.push_back(std::move(only));
  return true;
}

/// True if the own finding is superfluous; the stronger one then has what the rule adds to it.
bool yields(std::string_view text, const Finding& own, Finding& stronger) {
  if (is_of_placeholder(own, stronger)) return true;
  const auto* rule = find_rule(own.what.code);
  if (rule == nullptr) return false;
  for (const auto& yield : rule->yields_to) {
    if (!is_meant(yield, own.what.code, stronger.what.code)) continue;
    if (yield.applies != nullptr && !yield.applies({text, own, stronger})) continue;
    if (yield.merge != nullptr) yield.merge(own, stronger);
    return true;
  }
  return false;
}

} // namespace

bool overlap(const FindingPair& pair) {
  const auto &a = pair.own.place, &b = pair.stronger.place;
  return a.length > 0 && b.length > 0 && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

bool is_tail(const FindingPair& pair) {
  const auto &first = pair.stronger.place, &later = pair.own.place;
  if (first.offset >= later.offset) return false;
  const auto between = pair.text.substr(first.offset, later.offset - first.offset);
  return between.find(" -") == std::string_view::npos && between.find("\t-") == std::string_view::npos;
}

bool refuses_value(const Finding& stronger, std::string_view beginning) {
  return stronger.what.code.starts_with("slurm/") &&
         stronger.what.message.find(fmt::format(" cannot be '{}", beginning)) != std::string::npos;
}

void deduplicate(std::string_view text, Findings& findings) {
  if (keep_template_only(findings)) return;
  // Findings are in order: what has the same cause is close before or after.
  constexpr std::size_t k_close = 32;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto& own = findings[i];
    // Those before are kept at [0, kept), those after are still to come.
    const auto any = [&](auto is_superfluous) {
      const auto is_here = [&](std::size_t j) {
        return findings[j].what.location.line == own.what.location.line;
      };
      for (auto j = kept; j-- > 0 && kept - j <= k_close && is_here(j);)
        if (is_superfluous(j)) return true;
      for (auto j = i + 1; j < findings.size() && j - i <= k_close && is_here(j); ++j)
        if (is_superfluous(j)) return true;
      return false;
    };
    if (any([&](std::size_t j) { return j < i && is_repeated(own, findings[j]); }) ||
        any([&](std::size_t j) { return yields(text, own, findings[j]); }))
      continue;
    if (kept != i) findings[kept] = std::move(findings[i]);
    ++kept;
  }
  findings.resize(kept);
}

} // namespace hpcml::check
