// SPDX-License-Identifier: MIT
// What rules for texts are called and look like, for schemas and users.
#include <array>
#include <fmt/format.h>

#include "core/config/text_rule.hpp"

namespace hpcml::config {

namespace {

/// A rule in words.
struct RuleRow {
  TextRule rule;
  std::string_view name;
  std::string_view hint;
  std::string_view pattern;
};

#define HPCML_OPTION "--?[A-Za-z_]([A-Za-z0-9_./:@%+=,&|*^-]|\\[|\\]|\\{[a-z_]+\\})*"
#define HPCML_NUMBERS "\\{[a-z_]+\\}"

constexpr std::array<RuleRow, 12> k_rows = {{
    {TextRule::line, "line", "one line of visible characters", ""},
    {TextRule::word, "word", "letters, digits and _ . / : @ % + = , -",
     "^([A-Za-z0-9_./:@%+=,][A-Za-z0-9_./:@%+=,-]*)?$"},
    {TextRule::name, "name", "letters, digits and _ . -", "^[A-Za-z0-9_.][A-Za-z0-9_.-]*$"},
    {TextRule::interface, "interface", "the name of an IP interface, as ip link prints it: ib0, hsn0",
     "^[A-Za-z0-9_.][A-Za-z0-9_.-]*$"},
    {TextRule::variable, "variable", "letters, digits and _: NCCL_DEBUG", "^[A-Za-z_][A-Za-z0-9_]*$"},
    {TextRule::expression, "expression", "words and variables of the job: $SLURM_TMPDIR/env",
     "^([A-Za-z0-9_./:@%+=, -]|\\$[A-Za-z_][A-Za-z0-9_]*|\\$\\{[A-Za-z_][A-Za-z0-9_]*\\})*$"},
    {TextRule::activation, "activation",
     "\"$WITH_CONDA\" if the image sets a variable, or \"source /opt/env/bin/activate\"",
     "^(\\$[A-Za-z_][A-Za-z0-9_]*|source /[A-Za-z0-9_./+-]*)$"},
    {TextRule::option, "option", "one option each: --hint=nomultithread", "^" HPCML_OPTION "$"},
    {TextRule::launcher_argument, "launcher_argument",
     "one word each: an option such as --mpi=none, or its value such as ppr:1:node",
     "^(" HPCML_OPTION "|none|([0-9]|" HPCML_NUMBERS ")([A-Za-z0-9_.:@%+=,-]|" HPCML_NUMBERS
     ")*|([A-Za-z0-9_.@%+=,-]|" HPCML_NUMBERS ")+:([A-Za-z0-9_.:@%+=,-]|" HPCML_NUMBERS ")*)$"},
    {TextRule::requirement, "requirement",
     "for example torch or numpy>=1.26; a job sets a requirements file with --wheelhouse FILE",
     "^[A-Za-z0-9]([A-Za-z0-9_.,<>=!~+*-]|\\[|\\])*$"},
    {TextRule::suffix, "suffix", "a suffix of the host name: i or -interconnect-1", "^[A-Za-z0-9_.-]*$"},
    {TextRule::shebang, "shebang", "bash in scripts: #!/bin/bash or #!/bin/bash -l",
     "^(#!(/usr)?/bin/bash( -l)?|#!/usr/bin/env bash)$"},
}};

#undef HPCML_OPTION
#undef HPCML_NUMBERS

constexpr auto k_rules = [] {
  std::array<TextRule, k_rows.size()> rules{};
  for (std::size_t i = 0; i < rules.size(); ++i) rules[i] = k_rows[i].rule;
  return rules;
}();

const RuleRow& row_of(TextRule rule) {
  for (const auto& row : k_rows)
    if (row.rule == rule) return row;
  return k_rows.front();
}

} // namespace

std::string_view text_hint(TextRule rule) { return row_of(rule).hint; }
std::string text_advice(TextRule rule) { return fmt::format("use {}", row_of(rule).hint); }
std::string_view text_name(TextRule rule) { return row_of(rule).name; }
std::string_view text_pattern(TextRule rule) { return row_of(rule).pattern; }
std::span<const TextRule> all_text_rules() { return k_rules; }

} // namespace hpcml::config
