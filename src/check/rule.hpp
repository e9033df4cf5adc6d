// SPDX-License-Identifier: MIT
// A rule of `hpcml check`: what it looks for, why, and examples that are its own test.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/subject.hpp"
#include "core/diag/diagnostic.hpp"
#include "core/diag/text_range.hpp"

namespace hpcml::check {

/// Bytes of the script and what takes their place.
struct Edit {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string text;
};

/// What to do about a finding, and the document with the fact that it is based on.
struct Hint {
  std::string text;
  std::string source = {};
  Hint() = default;
  Hint(std::string what)
      : text(std::move(what)) {}         // NOLINT(google-explicit-constructor): most have no source
  Hint(const char* what) : text(what) {} // NOLINT(google-explicit-constructor)
  Hint(std::string what, std::string document) : text(std::move(what)), source(std::move(document)) {}
};

/// A place in the script where the rule is broken.
struct RuleMatch {
  diag::TextRange place; ///< length 0: the script as a whole
  std::string message;   ///< one sentence
  Hint hint = {};
  std::vector<Edit> fix = {}; ///< changes nothing but what the rule is about; empty where that is not safe
  std::optional<diag::Severity> severity = {}; ///< where it is not the rule's
};
/// The hits of one rule.
class RuleMatches : public std::vector<RuleMatch> {
public:
  using std::vector<RuleMatch>::vector;
  /// Adds a hit unless the same place has one already.
  void add(RuleMatch hit);

private:
  std::set<std::pair<std::size_t, std::size_t>> x_places; ///< of the first `x_counted` hits
  std::size_t x_counted = 0;
};

/// What is wrong, and the edits that fix it together; none where that is not safe.
struct Finding {
  diag::Diagnostic what; ///< its location is made of the place when all findings exist
  diag::TextRange place = {};
  std::vector<Edit> fix = {};
};
using Findings = std::vector<Finding>;

/// A script for a rule's page and for its test.
struct Example {
  std::string_view script = {};
  std::string_view site = {};    ///< id; empty: no site is named
  std::string_view version = {}; ///< of Slurm; empty: the site's, else 23.11
  constexpr Example() = default;
  /// The text may hold NUL characters.
  template <std::size_t N>
  constexpr Example(const char (&text)[N], const char* at_site = "", const char* for_version = "")
      : script(text, N - 1), site(at_site), version(for_version) {}
};

/// Two findings of one line of a script.
struct FindingPair {
  std::string_view text; ///< of the script
  const Finding& own;    ///< of the rule that may yield
  const Finding& stronger;
};

/// A finding to which a rule yields: its own finding on the same line is dropped, as both have one cause.
struct RulePrecedence {
  std::string_view to; ///< ID of a rule; "slurm/" for all of a group; empty for all other rules
  bool (*applies)(const FindingPair&) = nullptr;                  ///< none: always
  void (*merge)(const Finding& own, Finding& stronger) = nullptr; ///< adds what the own one states
};

/// error: Slurm or the site refuses the job, or it certainly fails; warning: it most likely does not do what
/// its author requires; note: it could be better.
struct Rule {
  std::string_view id; ///< "launch/fixed-port": the group, then the rule
  diag::Severity severity;
  std::string_view title; ///< a few words
  std::string_view why;   ///< the failure that it prevents
  std::string_view link;  ///< where that is written
  // Of its page. More are in tests/check/examples, and each is a test.
  Example bad = {};  ///< a script that it must find; empty if it would be megabytes
  Example good = {}; ///< a script that it must leave alone
  RuleMatches (*find)(const LintContext&) =
      nullptr; ///< none: sbatch's own refusals, which come with the reading of the header
  std::vector<Edit> (*fix)(const LintContext&,
                           diag::TextRange) = nullptr; ///< for a finding that is not a Hit of `find`
  /// What it warns of sbatch refuses there if the profile knows all: only a warning or a note, as a site has
  /// more names than its documents say.
  bool likely_refusal = false;
  std::vector<RulePrecedence> yields_to = {};

  /// "slurm", "site", "launch" or "safety".
  std::string_view group() const { return id.substr(0, id.find('/')); }
};

/// Every rule, in the order of its files.
std::span<const Rule> all_rules();
/// The rule of that id, or nothing.
const Rule* find_rule(std::string_view id);

} // namespace hpcml::check
