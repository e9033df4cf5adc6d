// SPDX-License-Identifier: MIT
// hpcml internal: the commands that generated scripts call.
#include <CLI/CLI.hpp>

#include "cli/internal/internal_commands.hpp"

namespace hpcml::cli {

void add_internal(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("internal", "Commands that generated scripts call.");
  command->require_subcommand(1);
  command->footer("Examples:\n"
                  "  hpcml internal store-serve --port 29400\n"
                  "Their options may change with any release: a script names the version that wrote it.");
  add_batch(*command, context, exit_code);
  add_stage(*command, context, exit_code);
  add_job_secret(*command, context, exit_code);
  add_store_serve(*command, context, exit_code);
  add_bad_nodes(*command, context, exit_code);
  add_healthy_nodes(*command, context, exit_code);
}

} // namespace hpcml::cli
