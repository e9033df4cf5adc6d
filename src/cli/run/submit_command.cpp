// SPDX-License-Identifier: MIT
// hpcml submit: the script of gen, handed to Slurm.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/create/write_script.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/run/submit_run.hpp"
#include "cli/run/submit_watch.hpp"
#include "cli/run/submit_where.hpp"
#include "core/slurm/jobs.hpp"
#include "core/util/file.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/resubmission_record.hpp"

namespace hpcml::cli {

namespace {

/// Two jobs on one directory of checkpoints would overwrite each other's.
util::Status check_has_ended(const slurm::Commands& commands, const std::string& job) {
  TRY(const auto records, slurm::find_job(commands, job));
  for (const auto& record : records)
    if (record.phase() != slurm::JobPhase::ended)
      return util::Error{
          fmt::format("job {} cannot be continued before it ends (state: {})", job, record.state),
          fmt::format("run scancel {} to end it, or run hpcml submit --continue again after its end", job)};
  return util::Success{};
}

std::vector<std::string> submit_words(const batch::ResubmissionRecord& kept) {
  std::vector<std::string> words = {fmt::format("--chdir={}", kept.directory)};
  if (!kept.array_task.empty()) words.push_back(fmt::format("--array={}", kept.array_task));
  words.push_back(kept.script);
  words.push_back(fmt::format("{}{}:{}", batch::k_continue_argument, kept.first, kept.restarts + 1));
  words.insert(words.end(), kept.arguments.begin(), kept.arguments.end());
  return words;
}

/// Where Slurm writes the job's log; empty if it does not answer, or the job is an array's.
std::string log_of(const slurm::Commands& commands, const slurm::SubmittedJob& submitted) {
  const auto records = slurm::find_job(commands, submitted.id, submitted.cluster);
  return records && records->size() == 1 ? records->front().log : std::string();
}

SubmitResult fail(const util::Error& error, int exit_code, const Context& context) {
  print_error(error, context.colour);
  return {{}, exit_code};
}

/// Submits the kept script of `job` ("4711", of an array "4711_3"), which must have ended.
SubmitResult run_continue(const std::string& job, const std::string& format, const Context& context) {
  std::error_code ignored;
  const auto directories =
      batch::saved_job_directories(context.env, std::filesystem::current_path(ignored).string());
  const auto kept = batch::load_saved_job(job, directories);
  if (!kept) return fail(kept.error(), k_usage, context);
  const slurm::LiveCommands commands(context.env);
  if (const auto ended = check_has_ended(commands, job); !ended)
    return fail(ended.error(), k_world_failed, context);
  const auto words = submit_words(*kept);
  const auto submitted = slurm::submit_job(kept->submit_command, {}, words,
                                           slurm::make_submit_environment(context.env, words).env);
  if (!submitted) return fail(submitted.error(), k_world_failed, context);
  for (const auto& message : submitted->messages) print_note(message);
  print_note(fmt::format("submitted job {}, which continues the work of job {} (restart {})", submitted->id,
                         kept->first, kept->restarts + 1));
  AcceptedBatchJob running;
  running.id = submitted->id;
  running.cluster = submitted->cluster;
  running.log = log_of(commands, *submitted);
  SubmitResult result{{running}, k_ok};
  if (format == "text") print_jobs(result.jobs, format);
  return result;
}

struct SubmitOptions {
  RequestFlags request;
  std::string script_file;
  std::string format = "text";
  std::string continued_job;
  std::optional<std::string> chain_if;
  std::optional<unsigned> chain;
  bool test_only = false;
  bool watch = false;
  bool where = false;
  bool all_sites = false;
};

constexpr std::string_view k_submit_flags = "--job --watch --test-only --where --continue";

constexpr CommandHelp k_submit_help = {
    .summary = "Submit a program to Slurm as a job that fits the site",
    .examples = R"(# Submit a job and follow it to its end
hpcml submit --site lumi --account project_1 --nodes 2 --time 10 --watch \
    -- python train.py
# Ask Slurm when the job of ./hpcml.json would start; submit nothing
hpcml submit --test-only
# Compare the partitions of this site: fit, start time and cost
hpcml submit --where --nodes 2 --time 4h
# Continue a job that has reached --max-requeues
hpcml submit --continue 4711)",
    .notes = R"(Prints "job NUMBER log PATH" for each job.

Exit codes:
  0  submitted
  2  invalid command line
  3  invalid job or site file
  4  the site cannot satisfy the request
  5  Slurm rejected the job or did not answer

With --watch: the job's own exit code (128 + signal; 1 if Slurm ended the job), or 130 after Ctrl-C,
which does not cancel the job.)",
    .common = model::ConcatenatedText<k_submit_flags, k_common_request_flags>::text,
    .usage = "[OPTIONS] [-- COMMAND [ARGS]...]",
    .described_in = "gen",
};

util::Status write_script(const SubmitOptions& options, const PlannedRequest& planned) {
  if (options.script_file.empty()) return util::Success{};
  return write_script_file(planned.parts.front().script, options.script_file);
}

/// The flags of a chain belong to a request of one job; in a file with several each has its own.
bool take_chain(const SubmitOptions& options, MergedRequest& request, const Context& context) {
  const bool several = request.parts.size() > 1;
  if (several && (options.chain || !options.script_file.empty())) {
    print_error("--chain and -o apply to one job, but the job file has several",
                "add --only NAME to choose one, or add \"chain\" to a job in the file", context.colour);
    return false;
  }
  if (options.chain) request.parts.front().chain = *options.chain;
  if (options.chain_if) request.parts.front().chain_if = *options.chain_if;
  return true;
}

/// Prints what has been submitted, and follows it if that is asked for.
int finish(const SubmitResult& result, const SubmitOptions& options, const Context& context) {
  if (options.format == "json") print_jobs_as_json(result.jobs);
  std::fflush(stdout); // before hours of watching, for a reader of a pipe
  return options.watch && result.exit_code == k_ok ? run_watch(result.jobs, context) : result.exit_code;
}

int run(const SubmitOptions& options, const Context& context) {
  if (!options.continued_job.empty())
    return finish(run_continue(options.continued_job, options.format, context), options, context);
  auto request = read_request(options.request, context);
  if (options.where) return run_where(request, {options.all_sites, options.format}, context);
  if (request.exit_code == k_ok && !take_chain(options, request, context)) return k_usage;
  int exit_code = k_ok;
  auto planned = run_planning(request, context, exit_code);
  if (!planned) return exit_code;
  print_script_findings(*planned, context, "site/submit"); // this command does use the site's program
  if (const auto fault = find_queue_fault(*planned)) {
    print_error(*fault, context.colour);
    return k_cannot_satisfy;
  }
  if (const auto written = write_script(options, *planned); !written) {
    print_error(written.error(), context.colour);
    return k_world_failed;
  }
  const auto calls = make_calls(planned->parts);
  if (options.test_only) return run_test_only(calls, context);
  return finish(run_submit(calls, planned->site, options.format, context), options, context);
}

} // namespace

void add_submit(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "submit", k_submit_help);
  const auto options = std::make_shared<SubmitOptions>();
  auto* test_only = command->add_flag("--test-only", options->test_only,
                                      "Ask Slurm when the job would start; submit nothing");
  command->add_flag("--watch", options->watch, "Follow the job to its end, as 'hpcml watch' does")
      ->excludes(test_only);
  auto* where = command->add_flag("--where", options->where,
                                  "Compare partitions: fit, start time and cost; submit nothing");
  command
      ->add_flag("--all-sites", options->all_sites,
                 "With --where, compare also the partitions of other sites")
      ->needs(where);
  auto* chain =
      command
          ->add_option("--chain", options->chain, "Submit N jobs, each of which resumes from the one before")
          ->type_name("N")
          ->check(whole_number(1, 1000));
  command
      ->add_option("--chain-if", options->chain_if,
                   "Start the next job of a chain after success (ok), or after any end (any)")
      ->type_name("RESULT")
      ->check(one_of({"any", "ok"}))
      ->default_str(config::NamedJobSpec{}.chain_if)
      ->needs(chain);
  command->add_option("--continue", options->continued_job, "Submit the script of an ended job again")
      ->type_name("JOB")
      ->excludes(test_only)
      ->excludes(where)
      ->excludes(chain);
  command->add_option("-o", options->script_file, "Also write the script to FILE")->type_name("FILE");
  add_format(*command, options->format, {"text", "json"});
  add_request_flags(*command, options->request, context);
  command->callback([options, &context, &exit_code] { exit_code = run(*options, context); });
}

} // namespace hpcml::cli
