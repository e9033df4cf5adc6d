// SPDX-License-Identifier: MIT
// What rules for texts are called and look like, for schemas and people.
#include <array>

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

constexpr std::array<RuleRow, 11> k_rows = {{
    {TextRule::line, "line", "one line of visible characters", ""},
    {TextRule::word, "word", "letters, digits and _ . / : @ % + = , -",
     "^([A-Za-z0-9_./:@%+=,][A-Za-z0-9_./:@%+=,-]*)?$"},
    {TextRule::name, "name", "letters, digits and _ . -", "^[A-Za-z0-9_.][A-Za-z0-9_.-]*$"},
    {TextRule::variable, "variable", "as NCCL_DEBUG: letters, digits and _", "^[A-Za-z_][A-Za-z0-9_]*$"},
    {TextRule::expression, "expression", "as $SLURM_TMPDIR/env: words and variables that the job has",
     "^([A-Za-z0-9_./:@%+=, -]|\\$[A-Za-z_][A-Za-z0-9_]*|\\$\\{[A-Za-z_][A-Za-z0-9_]*\\})*$"},
    {TextRule::activation, "activation",
     "write \"$WITH_CONDA\" where the image sets a variable, or \"source /opt/env/bin/activate\"",
     "^(\\$[A-Za-z_][A-Za-z0-9_]*|source /[A-Za-z0-9_./+-]*)$"},
    {TextRule::option, "option", "one option each, as --hint=nomultithread", "^" HPCML_OPTION "$"},
    {TextRule::launcher_argument, "launcher_argument",
     "one word each: an option as --mpi=none, or its value as ppr:1:node",
     "^(" HPCML_OPTION "|none|([0-9]|" HPCML_NUMBERS ")([A-Za-z0-9_.:@%+=,-]|" HPCML_NUMBERS
     ")*|([A-Za-z0-9_.@%+=,-]|" HPCML_NUMBERS ")+:([A-Za-z0-9_.:@%+=,-]|" HPCML_NUMBERS ")*)$"},
    {TextRule::requirement, "requirement",
     "as torch or numpy>=1.26; a requirements file is the job's affair: --wheelhouse FILE",
     "^[A-Za-z0-9]([A-Za-z0-9_.,<>=!~+*-]|\\[|\\])*$"},
    {TextRule::suffix, "suffix", "what is put behind the host's name, as i or -interconnect-1",
     "^[A-Za-z0-9_.-]*$"},
    {TextRule::shebang, "shebang", "scripts are for bash: #!/bin/bash or #!/bin/bash -l",
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
std::string_view text_name(TextRule rule) { return row_of(rule).name; }
std::string_view text_pattern(TextRule rule) { return row_of(rule).pattern; }
std::span<const TextRule> all_text_rules() { return k_rules; }

} // namespace hpcml::config
