// SPDX-License-Identifier: MIT
// What a launch runs, without what starts it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/subject.hpp"

namespace hpcml::import_script {

struct ImportState;

/// A program as words, and as the text that bash makes these words of.
struct ProgramCommandText {
  std::vector<std::string> command, source;
  std::vector<std::string> inner = {};   ///< the user's command, if hpcml runs it in a shell
  std::size_t begin = std::string::npos; ///< of its first word in the script
};

/// What becomes of a variable all of whose words are known and the program's.
enum class VariableExpansionMode {
  written_out, ///< the new script has its words
  kept,        ///< the new script has the variable, whose words change
};

/// Returns the launch's program; nothing if only the running job knows it, or, with `why`, if it cannot be
/// started once per rank.
std::optional<ProgramCommandText> program_text(const ImportState& porting, const check::Launch& launch,
                                               const shell::ScriptCommands& listing,
                                               VariableExpansionMode expansions, std::string& why);

/// Returns a word whose value is unknown, with its variables, so that bash expands it again.
/// Returns nothing if that is not possible.
std::optional<std::string> rebuilt(const shell::Argument& word);

/// True if the link starts its program in an environment that the request may replace: `conda run`.
bool runs_in_environment(const check::Link& link);

/// Returns the index of the program after `env` and its settings.
std::size_t skip_env(const std::vector<std::string>& command);

/// True if the program is a shell, also after `env`.
bool runs_shell(const std::vector<std::string>& command);

/// True if numactl is one of the command's words.
bool runs_numactl(const shell::Command& command);

} // namespace hpcml::import_script
