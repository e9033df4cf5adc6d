// SPDX-License-Identifier: MIT
// A word in a directive that belongs to no option.
#include <array>

#include "check/deduplicate.hpp"
#include "check/rule.hpp"
#include "check/value_fix.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_unexpected_argument {

using slurm::Program;

/// En dash, em dash and minus sign.
constexpr std::array<std::string_view, 3> k_dashes = {"\xe2\x80\x93", "\xe2\x80\x94", "\xe2\x88\x92"};

/// The bytes of typographic dashes at the beginning.
std::size_t dashes_before(std::string_view word) {
  std::size_t length = 0;
  for (const auto dash : {0, 1})
    for (const auto mark : k_dashes)
      if (dash >= 0 && word.substr(length, mark.size()) == mark) {
        length += mark.size();
        break;
      }
  return length;
}

std::vector<Edit> fix_dashes(const LintContext& subject, diag::TextRange place) {
  auto word = subject.text.substr(place.offset, place.length);
  auto length = dashes_before(word);
  if (length == 0) return {};
  while (length < word.size() && word[length] == '-') ++length; // one dash of two became typographic
  word.remove_prefix(length);
  const auto name = word.substr(0, word.find('='));
  if (slurm::is_option(Program::sbatch, name)) return {{place.offset, length, "--"}};
  if (name.size() == 1 && slurm::find_option(Program::sbatch, name[0], subject.version))
    return {{place.offset, length, "-"}};
  return {};
}

bool is_memory_unit(std::string_view word) {
  const auto lower = util::to_lower(word);
  return lower == "g" || lower == "gb" || lower == "m" || lower == "mb" || lower == "t" || lower == "tb" ||
         lower == "k" || lower == "kb";
}

/// What is between the words from `from` on and this one becomes `text`.
std::vector<Edit> join(const slurm::HeaderWord& from, diag::TextRange place, std::string text) {
  const auto end = from.place.offset + from.place.length;
  return {{end, place.offset - end, std::move(text)}};
}

std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  if (auto edits = fix_dashes(subject, place); !edits.empty()) return edits;
  const auto word = subject.text.substr(place.offset, place.length);
  const auto words = words_up_to(subject, place.offset);
  for (const auto& operand : words)
    if (operand.text.find("{{") != std::string::npos) return {}; // a template, not yet a script
  if (word.starts_with("//") || word[0] == '(') return {{place.offset, 0, "# "}};
  if (words.size() < 2) return {};
  const auto& before = words[words.size() - 2];
  const auto& text = before.text;
  // "--account= me", "--account = me"
  if (text.starts_with("--") && text.find('=') == text.size() - 1) return join(before, place, "");
  if (text == "=" && words.size() > 2 && words[words.size() - 3].text.starts_with("--"))
    return join(words[words.size() - 3], place, "=");
  const bool memory = text.starts_with("--mem") || text.starts_with("--tmp=") ||
                      (words.size() > 2 && words[words.size() - 3].text.starts_with("--mem"));
  if (memory && !text.empty() && text.back() >= '0' && text.back() <= '9' && is_memory_unit(word))
    return join(before, place, "");
  return {};
}

/// True if the word is the rest of a gap to be filled in that is refused as a value: "{number of nodes}".
bool is_rest_of_gap(const FindingPair& pair) {
  return (refuses_value(pair.stronger, "{") || refuses_value(pair.stronger, "<")) && is_tail(pair);
}

} // namespace slurm_unexpected_argument

Rule rule_slurm_unexpected_argument() {
  using namespace slurm_unexpected_argument;
  return {
      .id = "slurm/unexpected-argument",
      .severity = diag::Severity::error,
      .title = "Unexpected argument",
      .why =
          "sbatch takes nothing but options from a directive: a value with a space in it, a comment without "
          "#, an option with a typographic dash are all \"Invalid directive found in batch script\", and no "
          "job is made.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
#SBATCH --mem=16 GB
)"},
      .good = {R"(#!/bin/bash
#SBATCH --mem=16GB
)"},
      .fix = fix,
      .yields_to = {{"slurm/unexpected-argument", is_tail}, {"slurm/", is_rest_of_gap}},
  };
}

} // namespace hpcml::check
