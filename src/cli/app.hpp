// SPDX-License-Identifier: MIT
// A program as a whole: from its arguments to its exit code.
#pragma once

#include <optional>
#include <span>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::cli {

struct CommandEntry {
  const char* name;
  const char* group; ///< its heading in --help; empty: only named there
  void (*add)(CLI::App&, Context&, int&);
};

/// A program made of commands: hpcml itself, or hpcml-emulate.
struct CommandLineProgram {
  std::span<const CommandEntry> commands; ///< in the order of --help
  CommandHelp help;
  /// Runs a line that is read by other rules: torchrun's, completion's, an empty one. Returns the exit code,
  /// or nothing where the line is none of these.
  std::optional<int> (*run_special_line)(const Context& context);
};

/// Parses the command line, runs the command, returns the exit code.
int run(const CommandLineProgram& program, int argc, char** argv, const util::EnvSnapshot& env);

} // namespace hpcml::cli
