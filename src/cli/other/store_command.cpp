// SPDX-License-Identifier: MIT
// hpcml store: the place where the ranks of a job meet.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/other/store_show.hpp"
#include "run/launch/job_channel.hpp"

namespace hpcml::cli {
namespace {

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
  hpcml store show localhost:29400         the same for a store at a known port
docs/store.md describes the store, docs/security.md who may use it.)";

} // namespace

void add_store(CLI::App& app, Context& context, int& exit_code) {
  auto* command =
      app.add_subcommand("store", "The store where the ranks of a job meet, as torch's clients ask for it.");
  command->require_subcommand(1);
  command->footer(k_store_footer);
  add_store_show(*command, context, exit_code);
  command->add_subcommand("secret", "Print the value of HPCML_JOB_SECRET for the steps of this job.")
      ->callback([&context, &exit_code] { exit_code = run_secret(context); });
}

} // namespace hpcml::cli
