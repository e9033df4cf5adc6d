// SPDX-License-Identifier: MIT
// A '#' inside a value, which cuts it and the rest of the line off.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_comment_in_word {

/// Only where a comment was surely meant: something like "--time=10# ten minutes".
std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  const auto next = subject.text.substr(place.offset + 1, 1);
  if (next == " " || next == "\t") return {{place.offset, 0, " "}};
  return {};
}

/// True if sbatch rejects the value because the comment leaves nothing of it: "--time=#T#".
bool leaves_nothing(const FindingPair& pair) {
  const auto& value = pair.stronger.place;
  return value.offset + value.length == pair.own.place.offset &&
         pair.stronger.what.message.find(" cannot be ''") != std::string::npos;
}

void explain(const Finding&, Finding& stronger) {
  stronger.what.hint = "add quotes around the value: an unquoted '#' starts a comment, so the value is empty";
}

} // namespace slurm_comment_in_word

Rule rule_slurm_comment_in_word() {
  using namespace slurm_comment_in_word;
  return {
      .id = "slurm/comment-in-word",
      .severity = diag::Severity::warning,
      .title = "# that cuts a value",
      .why =
          "An unquoted # starts a comment in a directive even inside a word: --job-name=a#b --nodes=2 makes "
          "a job called \"a\", and --nodes is dropped silently.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10# ten minutes
)"},
      .good = {R"(#!/bin/bash
#SBATCH --job-name='a#b'
)"},
      .fix = fix,
      .yields_to = {{"slurm/", leaves_nothing, explain}},
  };
}

} // namespace hpcml::check
