// SPDX-License-Identifier: MIT
// Errors of the command line: what is wrong, what to do, and the usage.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace hpcml::cli {

/// Prints why the parser rejects the line of `context` on standard error, and returns the exit code.
int report_parse_error(const CLI::App& app, const CLI::ParseError& error, const Context& context);

/// The command that the parser has reached: the innermost one that was named.
const CLI::App& innermost_command(const CLI::App& app);

/// Prints the usage of a command on standard error; of the tasks of a step, only the first one prints it.
void print_usage(const CLI::App& command, const Context& context);

/// "use --nodes" for a word that resembles an option of the command or the program, or one of
/// `names`; empty if none does.
std::string near_option_hint(const CLI::App& command, const std::string& word,
                             std::vector<std::string> names = {});

} // namespace hpcml::cli
