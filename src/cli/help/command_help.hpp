// SPDX-License-Identifier: MIT
// What the help of a command shows, and the parser's command that carries it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace hpcml::cli {

/// The texts of a command's help. Its options come from the parser.
struct CommandHelp {
  std::string_view summary;     ///< imperative, without a full stop
  std::string_view examples;    ///< command lines; a line "# TEXT" explains the next one
  std::string_view notes = {};  ///< paragraphs for --help; indented lines are printed unchanged
  std::string_view common = {}; ///< the options of -h: names separated by spaces; empty: all
  std::string_view usage = {};  ///< what follows the command's name, a line per form; empty: from the parser
  /// The command whose help describes the options outside the group "Options" that are not common.
  std::string_view described_in = {};
  std::string (*list)() = nullptr; ///< a paragraph for --help that is made when it is printed
};

/// The program itself, as a command of the parser.
std::unique_ptr<CLI::App> make_program(const std::string& name, const CommandHelp& help);

/// Adds a command to the program or to another command.
CLI::App* add_command(CLI::App& parent, const std::string& name, const CommandHelp& help);

/// The help of a command that add_command() has added.
const CommandHelp& help_of(const CLI::App& command);

/// True if the command runs a program, whose words follow `--`.
bool runs_program(const CLI::App& command);

} // namespace hpcml::cli
