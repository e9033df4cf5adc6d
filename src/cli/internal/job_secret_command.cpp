// SPDX-License-Identifier: MIT
// `hpcml internal job-secret`: the key of a job's channels, which a script exports to its steps.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/internal/internal_commands.hpp"
#include "run/launch/job_channel.hpp"

namespace hpcml::cli {

namespace {

int run_job_secret(const Context& context) {
  const auto secret = launch::make_job_secret(context.env);
  if (!secret) {
    print_error(secret.error(), context.colour);
    return k_world_failed;
  }
  std::printf("%s\n", secret->c_str());
  return k_ok;
}

} // namespace

void add_job_secret(CLI::App& app, Context& context, int& exit_code) {
  app.add_subcommand("job-secret", "Print the value of HPCML_JOB_SECRET for the steps of this job.")
      ->callback([&context, &exit_code] { exit_code = run_job_secret(context); });
}

} // namespace hpcml::cli
