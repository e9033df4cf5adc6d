// SPDX-License-Identifier: MIT
// Spaces in directives that sbatch takes for letters.
#include <array>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_no_break_space {

/// No-break space, narrow no-break space, zero-width space, byte order mark.
constexpr std::array<std::string_view, 4> k_spaces = {"\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x8B",
                                                      "\xEF\xBB\xBF"};

/// Appends the edits that replace these characters in the line.
void add_edits(std::string_view text, diag::TextRange line, std::vector<Edit>& edits) {
  const auto whole = text.substr(line.offset, line.length);
  const auto last = whole.find_last_not_of(" \t\r\xA0\xC2");
  for (const auto space : k_spaces)
    for (auto at = whole.find(space); at != std::string_view::npos; at = whole.find(space, at + 1)) {
      const bool trailing = last == std::string_view::npos || at > last;
      const bool wide = space == k_spaces[0] || space == k_spaces[1];
      edits.push_back({line.offset + at, space.size(), wide && !trailing ? " " : ""});
    }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto header = subject.text.substr(0, subject.header.end);
  if (header.find('\xC2') == std::string_view::npos && header.find('\xE2') == std::string_view::npos &&
      header.find('\xEF') == std::string_view::npos)
    return hits;
  for (const auto& directive : subject.header.directives) {
    if (directive.words.empty()) continue;
    const auto line = line_at(subject.text, directive.words[0].place.offset);
    const auto whole = subject.text.substr(line.offset, line.length);
    // What a '#' begins is a comment, whose characters do not matter.
    const auto comment = whole.find(" #", 1);
    std::vector<Edit> edits;
    add_edits(subject.text, {line.offset, std::min(comment, whole.size())}, edits);
    if (!edits.empty())
      hits.add({line,
                "this line has a no-break space or an invisible character, which sbatch takes for part of "
                "the value",
                "remove it, or use a plain space", std::move(edits)});
  }
  return hits;
}

} // namespace slurm_no_break_space

Rule rule_slurm_no_break_space() {
  using namespace slurm_no_break_space;
  return {
      .id = "slurm/no-break-space",
      .severity = diag::Severity::warning,
      .title = "No-break space in a directive",
      .why = "Text that was copied from a web page or a PDF has spaces that only look like one (U+00A0). To "
             "sbatch they are letters: a log's name ends in one, and a partition of that name does not "
             "exist.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {"#!/bin/bash\n#SBATCH --output=%x-%j.out\xC2\xA0\nsrun true\n"},
      .good = {"#!/bin/bash\n#SBATCH --output=%x-%j.out\nsrun true\n"},
      .find = find,
  };
}

} // namespace hpcml::check
