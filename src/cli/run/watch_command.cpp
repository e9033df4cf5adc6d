// SPDX-License-Identifier: MIT
// hpcml watch: follow a job that is in the queue or runs.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/run/submit_run.hpp"
#include "cli/run/submit_watch.hpp"

namespace hpcml::cli {

namespace {

struct WatchOptions {
  std::string job;
  std::string format = "text";
};

const char* const k_watch_footer = R"(Examples:
  hpcml watch 12345
Prints "job NUMBER log PATH" and the log on standard output, the job's states on standard error.
Exit code: the job's own (128 + signal; 1 if Slurm ended it), 5 if Slurm does not report it, or
130 after Ctrl-C, which ends only the watching.)";

int run(const WatchOptions& options, const Context& context) {
  int exit_code = k_ok;
  const auto jobs = find_running(options.job, context, exit_code);
  if (jobs.empty()) return exit_code;
  print_jobs(jobs, options.format);
  return run_watch(jobs, context);
}

} // namespace

void add_watch(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("watch", "Follow a job: its state, its log, its end.");
  const auto options = std::make_shared<WatchOptions>();
  command->add_option("JOB", options->job, "the job's number: 12345, 12345_3")->required()->type_name("");
  command->add_option("--format", options->format, "text, or json [default: text]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer(k_watch_footer);
  command->callback([options, &context, &exit_code] { exit_code = run(*options, context); });
}

} // namespace hpcml::cli
