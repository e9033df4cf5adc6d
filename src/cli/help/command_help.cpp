// SPDX-License-Identifier: MIT
#include "cli/help/command_help.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace hpcml::cli {

namespace {

/// A command of the parser with its help.
class DescribedCommand final : public CLI::App {
public:
  DescribedCommand(const std::string& name, const CommandHelp& help, CLI::App* parent = nullptr)
      : App(std::string(help.summary), name, parent), x_help(help) {}
  const CommandHelp& help() const { return x_help; }

private:
  CommandHelp x_help;
};

} // namespace

std::unique_ptr<CLI::App> make_program(const std::string& name, const CommandHelp& help) {
  return std::make_unique<DescribedCommand>(name, help);
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const CommandHelp& help) {
  return parent.add_subcommand(std::make_shared<DescribedCommand>(name, help, &parent));
}

const CommandHelp& help_of(const CLI::App& command) {
  return dynamic_cast<const DescribedCommand&>(command).help();
}

bool runs_program(const CLI::App& command) {
  return help_of(command).usage.find("-- COMMAND") != std::string_view::npos;
}

} // namespace hpcml::cli
