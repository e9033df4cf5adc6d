// SPDX-License-Identifier: MIT
// hpcml watch: follow a job that is in the queue or runs.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/run/submit_run.hpp"
#include "cli/run/submit_watch.hpp"
#include "core/slurm/commands.hpp"

namespace hpcml::cli {

namespace {

struct WatchOptions {
  std::string job, log_dir;
  std::optional<unsigned> rank;
  std::string format = "text";
};

constexpr CommandHelp k_watch_help = {
    .summary = "Follow a job: its state, its log and its end",
    .examples = R"(hpcml watch 12345
# Output of rank 3, which its agent writes
hpcml watch 12345 --rank 3)",
    .notes =
        R"(Prints "job NUMBER log PATH" and the log on standard output, and the job's states on standard error.
Ctrl-C ends only the watching.

--rank follows the files of one rank below --log-dir of `hpcml launch`. They exist if the job has
an agent on each node.

Exit codes: the job's own (128 + signal; 1 if Slurm ended the job), 5 if Slurm does not know the
job, 130 after Ctrl-C.)",
};

/// The directory of the ranks' logs: as requested, else that of the job's script.
util::Result<std::string> choose_log_dir(const WatchOptions& options, const AcceptedBatchJob& job,
                                         const Context& context) {
  if (!options.log_dir.empty()) {
    std::error_code ignored; // a relative path serves as well, as long as the directory stays
    const auto absolute = std::filesystem::absolute(options.log_dir, ignored);
    return ignored ? options.log_dir : absolute.string();
  }
  const auto script =
      slurm::LiveCommands(context.env).ask({"scontrol", "write", "batch_script", options.job, "-"});
  const auto directory = script.ok() ? find_log_dir(script.output.out) : std::string();
  if (directory.empty())
    return util::Error{fmt::format("cannot find the log directory of the ranks of job {}", options.job),
                       "use --log-dir DIR with the directory that hpcml launch --log-dir has in the job"};
  return (std::filesystem::path(job.work_dir) / directory).lexically_normal().string();
}

int run(const WatchOptions& options, const Context& context) {
  int exit_code = k_ok;
  const auto jobs = find_running(options.job, context, exit_code);
  if (jobs.empty()) return exit_code;
  FollowOptions follow;
  if (options.rank) {
    const auto& job = jobs.front();
    if (job.array) {
      print_error(fmt::format("--rank requires one task of an array, but {} is the whole array", options.job),
                  fmt::format("use the number of a task, such as {}_1", options.job), context.colour);
      return k_usage;
    }
    const auto directory = choose_log_dir(options, job, context);
    if (!directory) {
      print_error(directory.error(), context.colour);
      return k_world_failed;
    }
    follow.rank_logs = RankLogLocation{*directory, *options.rank};
  }
  print_jobs(jobs, options.format);
  return run_watch(jobs, context, follow);
}

} // namespace

void add_watch(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "watch", k_watch_help);
  const auto options = std::make_shared<WatchOptions>();
  command->add_option("JOB", options->job, "Number of the job or array task: 12345, 12345_3")->required();
  auto* rank = command->add_option("--rank", options->rank, "Follow the output of this rank instead")
                   ->type_name("N")
                   ->check(whole_number(0, 1000000));
  command->add_option("--log-dir", options->log_dir, "Directory of the ranks' logs")
      ->type_name("DIR")
      ->default_str("the one in the job's script")
      ->needs(rank);
  add_format(*command, options->format, {"text", "json"});
  command->callback([options, &context, &exit_code] { exit_code = run(*options, context); });
}

} // namespace hpcml::cli
