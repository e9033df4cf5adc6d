// SPDX-License-Identifier: MIT
// The help of a command as text, made from the parser's options and the command's texts.
#pragma once

#include <string>
#include <vector>

#include "cli/help/command_help.hpp"
#include "core/util/env_snapshot.hpp"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace hpcml::cli {

enum class HelpLength {
  common, ///< -h
  full,   ///< --help
};

/// Options below one heading, in the order of their registration.
struct OptionGroup {
  std::string heading;
  std::vector<const CLI::Option*> options;
};

/// The options of a command by group, without positionals, hidden ones and --help.
std::vector<OptionGroup> option_groups(const CLI::App& command);
std::vector<const CLI::Option*> positionals_of(const CLI::App& command);
/// The commands below a command, in the order of their registration.
std::vector<const CLI::App*> commands_of(const CLI::App& command);

/// True if `-h` shows the option.
bool is_common(const CLI::App& command, const CLI::Option& option);
/// True if `--help` only names the option because the help of another command describes it.
bool is_described_elsewhere(const CLI::App& command, const CLI::Option& option);

/// The names of an option as typed: "-v, --verbose".
std::vector<std::string> option_names(const CLI::Option& option);
/// What the option means, with its default and its possible values.
std::string option_text(const CLI::Option& option);
/// "hpcml sites show"
std::string command_path(const CLI::App& command);
/// The forms of the command line: "hpcml gen [OPTIONS] -- COMMAND [ARGS]...".
std::vector<std::string> usage_forms(const CLI::App& command);

/// The notes of a command: a line per paragraph, lines of lists unchanged, empty lines between.
std::vector<std::string> notes_of(const CLI::App& command);

std::string render_help(const CLI::App& command, HelpLength length, std::size_t columns);

/// The columns for help on standard output: COLUMNS or the terminal's, from 50 to 100.
std::size_t help_columns(const util::EnvSnapshot& env);

} // namespace hpcml::cli
