// SPDX-License-Identifier: MIT
// hpcml store: the place where the ranks of a job meet.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/other/store_show.hpp"

namespace hpcml::cli {
namespace {

const char* const k_store_footer = R"(Examples:
  hpcml store show 1234                    what the ranks of a running job wait for
  hpcml store show localhost:29400         the same for a store at a known port
docs/store.md describes the store, docs/security.md who may use it.)";

} // namespace

void add_store(CLI::App& app, Context& context, int& exit_code) {
  auto* command =
      app.add_subcommand("store", "The store where the ranks of a job meet, as torch's clients ask for it.");
  command->require_subcommand(1);
  command->footer(k_store_footer);
  add_store_show(*command, context, exit_code);
}

} // namespace hpcml::cli
