// SPDX-License-Identifier: MIT
// hpcml watch: follow a job that is in the queue or runs.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/run/submit_run.hpp"
#include "cli/run/submit_watch.hpp"

namespace hpcml::cli {

namespace {

struct WatchOptions {
  std::string job;
  std::string format = "text";
};

constexpr CommandHelp k_watch_help = {
    .summary = "Follow a job: its state, its log and its end",
    .examples = R"(hpcml watch 12345)",
    .notes =
        R"(Prints "job NUMBER log PATH" and the log on standard output, and the job's states on standard error.
Ctrl-C ends only the watching.

Exit codes: the job's own (128 + signal; 1 if Slurm ended the job), 5 if Slurm does not know the
job, 130 after Ctrl-C.)",
};

int run(const WatchOptions& options, const Context& context) {
  int exit_code = k_ok;
  const auto jobs = find_running(options.job, context, exit_code);
  if (jobs.empty()) return exit_code;
  print_jobs(jobs, options.format);
  return run_watch(jobs, context);
}

} // namespace

void add_watch(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "watch", k_watch_help);
  const auto options = std::make_shared<WatchOptions>();
  command->add_option("JOB", options->job, "Number of the job or array task: 12345, 12345_3")->required();
  add_format(*command, options->format, {"text", "json"});
  command->callback([options, &context, &exit_code] { exit_code = run(*options, context); });
}

} // namespace hpcml::cli
