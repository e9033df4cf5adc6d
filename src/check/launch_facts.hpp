// SPDX-License-Identifier: MIT
// What several rules about launches ask: variables that programs see, how words read variables, and safe
// edits of single words.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/rule.hpp"

namespace hpcml::check {

/// A variable as a program of the script sees it.
struct EffectiveEnvVariable {
  std::string_view name;
  const shell::Argument* value = nullptr;
  diag::TextRange set_at;
  const Launch* launch = nullptr; ///< the first one that sees this setting
};
/// As LintContext::names.
std::vector<std::string_view> names_in(std::string_view text);
/// The settings of these variables that launches of steps, agents, containers and python see, each once.
std::vector<EffectiveEnvVariable> seen_variables(const LintContext& subject,
                                                 std::initializer_list<std::string_view> names);

/// Whether the link's program is in the launch's own command, not in one around it.
bool is_own(const Launch& launch, const Link& link);
/// Whether the launch's last program is Python with a file: `python train.py`.
bool starts_python_file(const Launch& launch);
/// Whether the launch's last program is a shell: what matters are the commands in it.
bool is_shell(const Launch& launch);
/// Whether the launch's program is one that users run to look around, to copy or to make directories, on each
/// node or in between.
bool is_tool(const Launch& launch);
/// Whether the launch does small work only, a tool's or the shell's own, which no variable of a training
/// matters to: export, echo, mkdir.
bool is_utility(const Launch& launch);
/// True if one of the words is this text.
bool has_word(std::span<const shell::Argument> words, std::string_view text);
/// Whether the text reads the variable: "$NAME", "${NAME…".
bool reads(std::string_view text, std::string_view name);
/// The piece of the word that is not known and reads one of the variables; nothing where none does.
const shell::ArgumentPiece* reading_piece(const shell::Argument& word,
                                          std::initializer_list<std::string_view> names);
/// The option under any of these names that comes last in the list of names and is given.
const GivenOption* find_any(const Link& link, std::initializer_list<std::string_view> names);

/// A number that a program gets by an option: "--num-workers 8", "--gpus=4".
struct CountArgument {
  std::string name; ///< with '_' for '-', without the first dashes
  long number = 0;
  diag::TextRange place; ///< of the word with the number
};
/// The first option with one of these names after the program's file; nothing if its value is not a number.
std::optional<CountArgument> find_count_argument(const Link& program,
                                                 std::span<const std::string_view> names);

/// True if an option or variable of torchrun sets its node as the only one.
bool is_standalone(const Launch& launch, const Link& agent);

/// Whether a comment on this line or the one before says that the setting exists on purpose. The srun option
/// of a script's own step that names several components of the job; none where it is no such step.
const GivenOption* names_components(const Launch& launch);
/// Whether the script takes the variable away in front of the place.
bool is_unset_before(const LintContext& subject, std::string_view name, std::size_t offset);
bool is_explained(const LintContext& subject, diag::TextRange place);
/// Adds a hit unless the same place has one already.
void add_match(RuleMatches& hits, RuleMatch hit);
/// Puts `text` in place of `written`, the end of what is at `place`; nothing where something else is written
/// there.
std::vector<Edit> replace_end(const LintContext& subject, diag::TextRange place, std::string_view written,
                              std::string text);
/// Puts a further option after the program's word; nothing where that word is not in the script as such.
std::vector<Edit> add_option(const LintContext& subject, const Link& link, const std::string& option);

} // namespace hpcml::check
