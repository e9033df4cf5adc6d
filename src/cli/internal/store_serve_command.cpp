// SPDX-License-Identifier: MIT
// `hpcml internal store-serve`: the rendezvous store of a batch script. Generated scripts start it before
// their steps.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/internal/internal_commands.hpp"
#include "core/util/log.hpp"
#include "run/launch/script_store.hpp"

namespace hpcml::cli {

namespace {

struct ServeOptions {
  launch::ScriptStoreRequest store;
  unsigned warn_after = 20;
};

int run_serve(ServeOptions& options, const Context& context) {
  options.store.warn_after = std::chrono::seconds(options.warn_after);
  const auto served = launch::serve_for_script(
      options.store, context.env,
      [](const std::string& place) {
        std::printf("%s\n", place.c_str());
        std::fflush(stdout);
      },
      [](const std::string& line) { util::log_info(line); });
  if (served) return k_ok;
  print_error(served.error(), context.colour);
  return k_world_failed;
}

constexpr CommandHelp k_store_serve_help = {
    .summary = "Serve a rendezvous store until SIGTERM",
    .examples = R"(# For ranks with MASTER_ADDR and MASTER_PORT
hpcml internal store-serve --port 29400)",
    .notes =
        R"(The first line on standard output is the port, or HOST:PORT with --name, printed as soon as ranks can
connect.)",
};

} // namespace

void add_store_serve(CLI::App& app, Context& context, int& exit_code) {
  auto* serve = add_command(app, "store-serve", k_store_serve_help);
  const auto options = std::make_shared<ServeOptions>();
  serve->add_option("--listen", options->store.addresses, "Numeric address to listen at (repeatable)")
      ->type_name("ADDRESS")
      ->default_str("all");
  serve->add_option("--port", options->store.port, "Port; 0 is any free port")
      ->type_name("PORT")
      ->check(whole_number(0, 65535))
      ->capture_default_str();
  serve->add_option("--warn-after", options->warn_after, "Report ranks that wait longer than this")
      ->type_name("SECONDS")
      ->check(whole_number(0, 1000000))
      ->capture_default_str();
  serve
      ->add_option("--name", options->store.name,
                   "Name of this node for the ranks; the port is then the job's")
      ->type_name("HOST");
  serve->add_flag("--with-parent", options->store.with_parent,
                  "Exit with the parent process; ignore signals of Slurm and the terminal");
  serve->callback([options, &context, &exit_code] { exit_code = run_serve(*options, context); });
}

} // namespace hpcml::cli
