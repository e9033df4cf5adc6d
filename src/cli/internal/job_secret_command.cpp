// SPDX-License-Identifier: MIT
// `hpcml internal job-secret`: the key of a job's channels, which a script exports to its steps.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/help/command_help.hpp"
#include "cli/internal/internal_commands.hpp"
#include "run/launch/job_key.hpp"

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

constexpr CommandHelp k_job_secret_help = {
    .summary = "Print HPCML_JOB_SECRET for the steps of this job",
    .examples = "hpcml internal job-secret",
};

} // namespace

void add_job_secret(CLI::App& app, Context& context, int& exit_code) {
  add_command(app, "job-secret", k_job_secret_help)->callback([&context, &exit_code] {
    exit_code = run_job_secret(context);
  });
}

} // namespace hpcml::cli
