// SPDX-License-Identifier: MIT
// hpcml store: the place where the ranks of a job meet.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/other/store_show.hpp"
#include "run/launch/job_channel.hpp"
#include "run/launch/script_store.hpp"

namespace hpcml::cli {
namespace {

struct ServeOptions {
  launch::ScriptStore store;
  unsigned patience = 20;
};

int run_serve(ServeOptions& options, const Context& context) {
  options.store.patience = std::chrono::seconds(options.patience);
  const auto served = launch::serve_for_script(
      options.store, context.env,
      [](const std::string& place) {
        std::printf("%s\n", place.c_str());
        std::fflush(stdout);
      },
      [](const std::string& line) { print_line("hpcml store: " + line); });
  if (served) return k_ok;
  print_error(served.error(), context.colour);
  return k_world_failed;
}

int run_secret(const Context& context) {
  const auto secret = launch::make_job_secret(context.env);
  if (!secret) {
    print_error(secret.error(), context.colour);
    return k_world_failed;
  }
  std::printf("%s\n", secret->c_str());
  return k_ok;
}

const char* const k_store_footer = R"(Examples:
  hpcml store show 1234                    what the ranks of a running job wait for
  hpcml store serve --port 29400           for ranks with MASTER_ADDR and MASTER_PORT, until SIGTERM
  hpcml store show localhost:29400         the same for a store at a known port
docs/store.md describes the store, docs/security.md who may use it.)";

} // namespace

void add_store(CLI::App& app, Context& context, int& exit_code) {
  auto* command =
      app.add_subcommand("store", "The store where the ranks of a job meet, as torch's clients ask for it.");
  command->require_subcommand(1);
  command->footer(k_store_footer);
  auto* serve = command->add_subcommand(
      "serve", "Serve until SIGTERM. The first line on standard output is the port, once ranks can come.");
  const auto options = std::make_shared<ServeOptions>();
  serve->add_option("--listen", options->store.addresses,
                    "a numeric address of this node; may be repeated (all of them)");
  serve->add_option("--port", options->store.port, "the port; 0 is any that is free")->capture_default_str();
  serve->add_option("--patience", options->patience, "seconds after which it says who waits for whom")
      ->capture_default_str();
  serve
      ->add_option("--name", options->store.name,
                   "the name of this node that the ranks are told: the first line is then HOST:PORT, for "
                   "HPCML_STORE_ADDR, at a port of the job's")
      ->type_name("HOST");
  serve->add_flag("--with-parent", options->store.with_parent,
                  "end with the process that started it; ignore signals of Slurm and the terminal");
  serve->callback([options, &context, &exit_code] { exit_code = run_serve(*options, context); });
  add_store_show(*command, context, exit_code);
  command->add_subcommand("secret", "Print the value of HPCML_JOB_SECRET for the steps of this job.")
      ->callback([&context, &exit_code] { exit_code = run_secret(context); });
}

} // namespace hpcml::cli
