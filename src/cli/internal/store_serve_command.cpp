// SPDX-License-Identifier: MIT
// `hpcml internal store-serve`: the rendezvous store of a batch script. Generated scripts start it before
// their steps.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/internal/internal_commands.hpp"
#include "core/util/log.hpp"
#include "run/launch/script_store.hpp"

namespace hpcml::cli {

namespace {

struct ServeOptions {
  launch::ScriptStore store;
  unsigned warn_after = 20;
};

int run_serve(ServeOptions& options, const Context& context) {
  options.store.patience = std::chrono::seconds(options.warn_after);
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

const char* const k_store_serve_footer = R"(Examples:
  hpcml internal store-serve --port 29400           for ranks with MASTER_ADDR and MASTER_PORT, until SIGTERM
docs/concepts/rendezvous.md describes the store, docs/concepts/security.md who may use it.)";

} // namespace

void add_store_serve(CLI::App& app, Context& context, int& exit_code) {
  auto* serve = app.add_subcommand(
      "store-serve",
      "Serve until SIGTERM. The first line on standard output is the port, once ranks can come.");
  const auto options = std::make_shared<ServeOptions>();
  serve->add_option("--listen", options->store.addresses,
                    "a numeric address of this node; may be repeated (all of them)");
  serve->add_option("--port", options->store.port, "the port; 0 is any that is free")->capture_default_str();
  serve->add_option("--warn-after", options->warn_after, "seconds after which it says who waits for whom")
      ->capture_default_str();
  serve
      ->add_option("--name", options->store.name,
                   "the name of this node that the ranks are told: the first line is then HOST:PORT, for "
                   "HPCML_STORE_ADDR, at a port of the job's")
      ->type_name("HOST");
  serve->add_flag("--with-parent", options->store.with_parent,
                  "end with the process that started it; ignore signals of Slurm and the terminal");
  serve->callback([options, &context, &exit_code] { exit_code = run_serve(*options, context); });
  serve->footer(k_store_serve_footer);
}

} // namespace hpcml::cli
