// SPDX-License-Identifier: MIT
// hpcml submit: the script of gen, handed to Slurm.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/run/submit_continue.hpp"
#include "cli/run/submit_run.hpp"
#include "cli/run/submit_watch.hpp"
#include "cli/run/submit_where.hpp"
#include "core/util/file.hpp"

namespace hpcml::cli {

namespace {

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

const char* const k_submit_footer = R"(Examples:
  hpcml submit --site lumi --account project_1 --nodes 2 --time 10 -- python train.py
  hpcml submit --test-only                      (what ./hpcml.json asks for; nothing is submitted)
  hpcml submit --site lumi --account project_1 --time 2-0 --chain 4 --watch -- python train.py --resume
  hpcml submit --continue 4711                  (a job that has reached --max-requeues)
  hpcml submit --where --nodes 2 --time 4h      (each partition here: fits, starts when, costs what; --all-sites: also elsewhere)
  hpcml emulate --site lumi --nodes 2 -- hpcml submit --site lumi --account project_1 --nodes 2 --time 10 -- python train.py
Prints "job NUMBER log PATH" for each job. Exit codes: 0 submitted, 2 usage, 3 invalid job or site file, 4 the site cannot satisfy the request,
5 Slurm refused the job or did not answer. With --watch the job's own exit code (128 + signal; 1 when Slurm ended it), or 130 after Ctrl-C,
which ends only the watching.)";

util::Status write_script(const SubmitOptions& options, const PlannedRequest& planned) {
  if (options.script_file.empty()) return util::Done{};
  return util::write_output(options.script_file, planned.parts.front().script, 0755);
}

/// The flags of a chain belong to a request of one job; in a file with several each has its own.
bool take_chain(const SubmitOptions& options, MergedRequest& request, const Context& context) {
  const bool several = request.parts.size() > 1;
  if (several && (options.chain || !options.script_file.empty())) {
    print_error("the job file has several jobs, and --chain and -o are about one",
                "choose one with --only NAME, or write \"chain\" into the job", context.colour);
    return false;
  }
  if (options.chain) request.parts.front().chain = *options.chain;
  if (options.chain_if) request.parts.front().chain_if = *options.chain_if;
  return true;
}

/// Prints what has been submitted, and follows it if that is asked for.
int finish(const SubmitResult& result, const SubmitOptions& options, const Context& context) {
  if (options.format == "json") print_jobs_as_json(result.jobs);
  std::fflush(stdout); // before hours of watching, for whoever reads it through a pipe
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
  print_script_findings(*planned, context, "site/submit"); // by the site's program: that is done here
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
  auto* command = app.add_subcommand("submit", "Submit a program to Slurm as a job that fits the site.");
  const auto options = std::make_shared<SubmitOptions>();
  auto* test_only = command->add_flag("--test-only", options->test_only,
                                      "ask Slurm whether and when it would start; submit nothing");
  command
      ->add_flag("--watch", options->watch,
                 "follow the job: its state, its log, its end (later: hpcml watch JOB); Ctrl-C ends only the "
                 "watching")
      ->excludes(test_only);
  auto* chain = command
                    ->add_option("--chain", options->chain,
                                 "submit N times, each waiting for the one before: training in pieces, from "
                                 "checkpoint to checkpoint")
                    ->type_name("N")
                    ->check(CLI::Range(1, 1000));
  command
      ->add_option("--chain-if", options->chain_if,
                   "any: go on however the one before ended, as after a time limit; ok: only after a success")
      ->type_name("HOW")
      ->check(CLI::IsMember({"any", "ok"}))
      ->needs(chain);
  auto* where = command->add_flag(
      "--where", options->where,
      "which partitions it fits into, where it would start soonest, what it costs; submit nothing");
  command
      ->add_flag("--all-sites", options->all_sites,
                 "with --where: the partitions of all sites, by their profiles")
      ->needs(where);
  command
      ->add_option("--continue", options->continued_job,
                   "submit an ended job's script again, with its checkpoints and restarts")
      ->type_name("JOB")
      ->excludes(test_only)
      ->excludes(where)
      ->excludes(chain);
  command->add_option("-o", options->script_file, "also write the script to FILE")->type_name("FILE");
  command->add_option("--format", options->format, "text, or json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  add_request_flags(*command, options->request, context);
  command->footer(k_submit_footer);
  command->callback([options, &context, &exit_code] { exit_code = run(*options, context); });
}

} // namespace hpcml::cli
