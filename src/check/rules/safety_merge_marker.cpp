// SPDX-License-Identifier: MIT
// Marks of a merge that git left in the script.
#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_merge_marker {

/// The next line that begins with the mark, from `at` on.
std::size_t find_line(std::string_view text, std::string_view mark, std::size_t at) {
  for (auto found = text.find(mark, at); found != std::string_view::npos; found = text.find(mark, found + 1))
    if (found == 0 || text[found - 1] == '\n') return found;
  return std::string_view::npos;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto text = subject.text;
  for (auto ours = find_line(text, "<<<<<<< ", 0); ours != std::string_view::npos;
       ours = find_line(text, "<<<<<<< ", ours + 1)) {
    const auto middle = find_line(text, "=======", ours);
    const auto theirs = find_line(text, ">>>>>>> ", ours);
    if (middle == std::string_view::npos || theirs == std::string_view::npos || middle > theirs) continue;
    RuleMatch hit{line_at(text, ours), "this is a marker of an unresolved merge",
                  "remove the markers and one of the two versions"};
    if (text.substr(0, ours).find("<<") != std::string_view::npos)
      hit.severity = diag::Severity::warning; // it may be the text of a here-document
    hits.push_back(std::move(hit));
  }
  return hits;
}

} // namespace safety_merge_marker

Rule rule_safety_merge_marker() {
  using namespace safety_merge_marker;
  return {
      .id = "safety/merge-marker",
      .severity = diag::Severity::error,
      .title = "Unresolved merge markers",
      .why =
          "The lines <<<<<<<, ======= and >>>>>>> that git leaves are not bash: sbatch takes the script, and "
          "the job dies at them with a syntax error once it runs.",
      .link = "https://git-scm.com/docs/git-merge#_how_conflicts_are_presented",
      .bad = {R"(#!/bin/bash
<<<<<<< HEAD
echo a
=======
echo b
>>>>>>> x
)"},
      .good = {R"(#!/bin/bash
echo '======='
)"},
      .find = find,
  };
}

} // namespace hpcml::check
