// SPDX-License-Identifier: MIT
// What a text may consist of; profile texts reach shells and configuration files.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hpcml::config {

/// What a text of a profile may be made of.
enum class TextRule {
  line,              ///< one line without control characters
  word,              ///< letters, digits and _ . / : @ % + = , - only, not starting with -
  name,              ///< letters, digits and _ . - only, not starting with -
  interface,         ///< a name that is not that of an InfiniBand or Omni-Path adapter
  variable,          ///< a name of an environment variable, none of those that shells obey
  expression,        ///< words and spaces with $NAME or ${NAME}: no command can hide in it
  activation,        ///< one $NAME, or source /ABSOLUTE/PATH
  option,            ///< one option of sbatch that names no program: "--hint=nomultithread"
  launcher_argument, ///< one option that names no program, or an option's value that is not a program's name
  requirement,       ///< a Python package with extras and versions
  suffix,            ///< what can be put after a host name
  shebang,           ///< the first line of a bash script
};

/// What is wrong with `text` under `rule`, as the rest of a sentence ("has the character …"); empty if
/// nothing is.
std::string text_fault(std::string_view text, TextRule rule);
/// What such a text looks like.
std::string_view text_hint(TextRule rule);
/// Returns the hint for a text that breaks the rule, for example "use letters, digits and _ . -".
std::string text_advice(TextRule rule);
/// Its name, for a schema: "launcher_argument".
std::string_view text_name(TextRule rule);
/// A regular expression that every text without a fault matches, and few others; empty: any text may.
std::string_view text_pattern(TextRule rule);
/// Every rule, in order.
std::span<const TextRule> all_text_rules();

} // namespace hpcml::config
