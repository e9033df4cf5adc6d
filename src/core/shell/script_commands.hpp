// SPDX-License-Identifier: MIT
// The commands of a script in the order in which bash comes to them, with what is known of their words and
// environment.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/shell/script.hpp"
#include "core/shell/value.hpp"

namespace hpcml::shell {

/// Where a command is.
struct CommandContext {
  bool condition = false; ///< after if, case, && or ||: may not run
  bool loop = false;      ///< may run any number of times
  bool subshell = false;  ///< changes nothing outside
  bool background = false;
  bool pipeline = false;
  bool substitution = false; ///< its output becomes text: $(…), <(…)
  bool trap = false;         ///< runs when a signal comes
  bool uncalled = false;     ///< in a function that nothing visible calls
  bool unreached = false;    ///< after an exit, exec, return or break
  bool guarded = false;      ///< after an exit, return or break that a condition decides: may not run
  bool errexit = false;      ///< the script stops if a command fails: `set -e`
  bool pipefail = false;     ///< a pipeline fails if one of its commands does
  bool inexact = false;      ///< part of the text around it is not known and was taken for plain words
  std::string function;      ///< the innermost function, or empty
  std::string script; ///< "bash -c", "here-document", "eval", the name of a file written before; empty: the
                      ///< script itself
};

/// A variable for one command only: `NAME=value program`, `env NAME=value program`.
struct CommandPrefixVariable {
  std::string name;
  Argument value;
};

/// A redirect with what is known of its target.
struct ResolvedRedirect {
  std::string fd;
  std::string op;
  Argument target; ///< of a here-document its text
  TextRange place;
};

/// A command that the script runs, with what is known of its words and environment.
struct Command {
  TextRange place;
  std::vector<Argument> words;        ///< with prefixes such as `time`, `env`, `numactl --localalloc`
  std::optional<std::size_t> program; ///< which word is the program after the prefixes; nothing: not known
  std::vector<std::string> prefixes;  ///< their names
  std::vector<CommandPrefixVariable> own;
  std::vector<ResolvedRedirect> redirects;
  std::shared_ptr<const Exports> exports; ///< what the script has exported so far
  CommandContext context;
  std::optional<std::size_t> parent; ///< the command whose text this is part of: `srun bash -c '…'`
  bool calls_function = false;       ///< the function's commands follow

  /// The program's name without its directory; nothing where it is not known.
  std::optional<std::string> name() const;
  /// The words after the program.
  std::span<const Argument> arguments() const;
};

/// An element of a known array whose index is not known: "${names[$i]}".
struct ElementReading {
  std::string array;
  std::string index;     ///< as written; of a variable what it was set to: "SLURM_ARRAY_TASK_ID - 1"
  std::size_t count = 0; ///< of the array's elements
  TextRange place;
};

/// The first word from words[at] on that is none of the programs that only run another one (`env`, `time`,
/// `numactl` …), their options and settings; nothing where that cannot be seen.
std::optional<std::size_t> skip_prefixes(const std::vector<Argument>& words, std::size_t at);

/// All commands of a script in the order of the text.
struct ScriptCommands {
  std::vector<Command> commands;
  std::vector<VariableRef> settings;    ///< each assignment of the script itself, with what is set by it
  std::vector<ElementReading> elements; ///< that the script itself reads under no condition
  std::vector<UnparsedText> unread;     ///< also in texts within the text
  bool complete = true;                 ///< false: too long or too deep, the rest is not in here
};

/// Follows the script from its first to its last line without running anything. What is known is what bash
/// would see as long as no command fails in an unforeseen way.
///
/// `keeps_beginnings`: if a condition only adds words to a variable, `CMD="$CMD --resume"`, its first words
/// are known afterwards and an unknown number of words follows. The words are then not those of the script's
/// text.
ScriptCommands list_commands(const Script& script, bool keeps_beginnings = false);

} // namespace hpcml::shell
