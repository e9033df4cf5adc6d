// SPDX-License-Identifier: MIT
// hpcml internal: the commands that generated scripts call.
#include <CLI/CLI.hpp>

#include "cli/help/command_help.hpp"
#include "cli/internal/internal_commands.hpp"

namespace hpcml::cli {

namespace {

constexpr CommandHelp k_internal_help = {
    .summary = "Run the commands that generated scripts call",
    .examples = "hpcml internal store-serve --port 29400",
    .notes = "The options of these commands can change with any release. A script names the version that "
             "generated it.",
};

} // namespace

void add_internal(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "internal", k_internal_help);
  command->require_subcommand(1);
  add_batch(*command, context, exit_code);
  add_stage(*command, context, exit_code);
  add_job_secret(*command, context, exit_code);
  add_store_serve(*command, context, exit_code);
  add_bad_nodes(*command, context, exit_code);
  add_healthy_nodes(*command, context, exit_code);
}

} // namespace hpcml::cli
