// SPDX-License-Identifier: MIT
#include "cli/help/command_help.hpp"

#include <memory>

namespace hpcml::cli {

CLI::App* add_command(CLI::App& parent, const std::string& name, const CommandHelp& help) {
  return parent.add_subcommand(std::make_shared<Command>(name, help, &parent));
}

const CommandHelp& help_of(const CLI::App& command) { return dynamic_cast<const Command&>(command).help(); }

bool runs_program(const CLI::App& command) {
  return help_of(command).usage.find("-- COMMAND") != std::string_view::npos;
}

} // namespace hpcml::cli
