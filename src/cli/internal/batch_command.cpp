// SPDX-License-Identifier: MIT
// `hpcml internal batch`: the batch side of a job. A generated script starts it in its first line, and it
// runs the rest of the script.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/internal/internal_commands.hpp"
#include "core/model/launcher.hpp"
#include "core/model/script_provenance.hpp"
#include "core/model/walltime.hpp"
#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "core/util/text.hpp"
#include "run/batch/batch_process.hpp"
#include "run/batch/script_environment.hpp"

namespace hpcml::cli {

namespace {

struct BatchOptions {
  batch::BatchRequest request;
  std::string launcher = "hpcml", save_before, save_signal = "USR1", requeue_on, chain;
  std::string store = "batch";    ///< what serves the rendezvous store
  bool old_no_store = false;      ///< of scripts before --store named the server
  bool old_secret = false;        ///< of scripts before --launcher
  bool old_gpus_as_total = false; ///< of scripts before batch read SLURM_GPUS
  std::string old_save_by;
  CLI::Option* store_server = nullptr;
  CLI::Option* max_requeues = nullptr;
};

util::Error unknown_option(const std::string& word, const std::vector<std::string>& command) {
  const auto script = util::read_input_head(batch::script_of(command), 1 << 16).value_or("");
  const auto head = model::find_script_head(script);
  return {
      head ? fmt::format(
                 "hpcml internal batch has no option '{}': the script was written by hpcml {}, but this is "
                 "hpcml {}",
                 word, head->version, HPCML_VERSION)
           : fmt::format("hpcml internal batch has no option '{}'", word),
      "run hpcml gen again to update the script, or set HPCML in it to the hpcml that wrote it"};
}

util::Status read_saving(const BatchOptions& options, batch::BatchRequest& request) {
  if (options.save_before.empty()) return util::Success{};
  const auto time = model::LeadTime::parse(options.save_before);
  if (!time) return util::Error{fmt::format("--save-before: {}", time.error().what), time.error().hint};
  request.save_before = time->seconds();
  const auto signal = model::SaveSignal::parse(options.save_signal);
  if (!signal) return util::Error{fmt::format("--save-signal: {}", signal.error().what), signal.error().hint};
  request.save_signal = *signal;
  return util::Success{};
}

/// What the launcher of the ranks needs, and how its programs get the request to save.
util::Status read_launcher(const BatchOptions& options, batch::BatchRequest& request) {
  const auto launcher = model::Launcher::parse(options.launcher);
  if (!launcher) return util::with_context(launcher.error(), "--launcher");
  const bool is_hpcml = launcher->is_hpcml() && options.old_save_by != "step";
  // Scripts that have --secret name the store only if this process serves it.
  const bool is_served =
      options.store == "batch" && (!options.old_secret || options.store_server->count() > 0);
  request.needs_secret = is_hpcml;
  request.serves_store = is_hpcml && is_served && !options.old_no_store;
  request.save_route = is_hpcml ? batch::SaveSignalRoute::launch : batch::SaveSignalRoute::step;
  return util::Success{};
}

util::Result<batch::BatchRequest> read_request(const BatchOptions& options, const Context& context) {
  auto request = options.request;
  request.hpcml = util::own_executable().string();
  request.command = context.program;
  if (request.command.empty())
    return util::Error{"hpcml internal batch has no script to run",
                       "add the script after --: hpcml internal batch OPTIONS -- bash SCRIPT"};
  TRY_DONE(read_launcher(options, request));
  TRY_DONE(read_saving(options, request));
  request.requeues = options.max_requeues->count() > 0;
  if (!options.requeue_on.empty()) {
    auto classes = model::RetryClasses::parse(options.requeue_on);
    if (!classes)
      return util::Error{fmt::format("--requeue-on: {}", classes.error().what), classes.error().hint};
    request.requeue_on = *std::move(classes);
  }
  if (options.chain.empty()) return request;
  const auto colon = options.chain.find(':');
  const auto position =
      colon == std::string::npos ? std::nullopt : util::parse_unsigned(options.chain.substr(colon + 1));
  if (!position)
    return util::Error{
        fmt::format("--chain must be FIRST_JOB:JOBS_BEFORE_THIS, such as 4711:2, not '{}'", options.chain),
        "use the number of the chain's first job, and how many of its jobs precede this one"};
  request.chain_first = options.chain.substr(0, colon);
  request.chain_position = static_cast<unsigned>(*position);
  return request;
}

int run_batch(const CLI::App& command, const BatchOptions& options, const Context& context) {
  if (const auto extra = command.remaining(); !extra.empty()) {
    print_error(unknown_option(extra.front(), context.program), context.colour);
    return k_usage;
  }
  auto request = read_request(options, context);
  if (!request) {
    print_error(request.error(), context.colour);
    return k_usage;
  }
  auto job = batch::make_batch_job(*request, context.env);
  if (!job) {
    print_error(job.error(), context.colour);
    return k_usage;
  }
  batch::BatchProcess process(*std::move(request), *std::move(job), context.env);
  const auto code = process.run();
  if (code) return *code;
  print_error(code.error(), context.colour);
  return k_world_failed;
}

constexpr CommandHelp k_batch_help = {
    .summary = "Run the commands of a job script and keep the job alive",
    .examples = "hpcml internal batch --save-before 10m --max-requeues 3 -- bash job.sh",
    .notes = R"(A generated script replaces itself with this command, which runs the script's commands, and:
  - creates the key of the job's processes and serves the rendezvous store
  - asks the ranks to save before the time limit (--save-before)
  - requeues the job up to --max-requeues times, without faulty nodes
  - chooses the healthy nodes of a job with spare nodes (--program-nodes)
  - removes the job's directory from the nodes' own disks (--stage)

The script's commands run with HPCML_BATCH set to the job's number.)",
    .common = "--save-before --save-signal --max-requeues --requeue-on --checkpoint-dir --log-dir "
              "--program-nodes --stage --launcher --store",
    .usage = "[OPTIONS] -- COMMAND [ARGS]...",
};

void add_job_options(CLI::App& app, BatchOptions& options) {
  auto& request = options.request;
  app.add_option("--launcher", options.launcher,
                 "Program that starts the ranks; only hpcml needs a key and a store")
      ->type_name("NAME")
      ->capture_default_str();
  options.store_server = app.add_option("--store", options.store, "Server of the ranks' rendezvous store")
                             ->type_name("SERVER")
                             ->check(one_of({"batch", "agents", "rank0", "none"}))
                             ->expected(0, 1) // earlier scripts name no server
                             ->capture_default_str();
  app.add_flag("--no-store", options.old_no_store)->group("");
  app.add_flag("--secret", options.old_secret)->group("");
  app.add_option("--host", request.host, "Name of this node for the ranks")
      ->type_name("HOST")
      ->default_str("SLURMD_NODENAME");
  app.add_option("--interface", request.interface, "Network interface at which the ranks connect")
      ->type_name("NAME");
  app.add_flag("--ipv4", request.resolves_host, "Resolve the name of this node to an IPv4 address");
  app.add_option("--checkpoint-dir", request.checkpoint_dir, "Parent of each job's checkpoint directory")
      ->type_name("DIR");
  app.add_option("--log-dir", request.log_dir, "Directory of the run records")->type_name("DIR");
  app.add_option("--program-nodes", request.program_nodes, "Number of nodes that run the program")
      ->type_name("N")
      ->check(whole_number(0, 1000000))
      ->default_str("all");
  app.add_option("--gpus-per-node", request.gpus_per_node, "GPUs that a healthy node shows")
      ->type_name("N")
      ->check(whole_number(0, 1024));
  app.add_option("--stage", request.stage_dir,
                 "Disk of each node for $HPCML_STAGE, removed at the end of the job")
      ->type_name("DIR");
  app.add_option("--node-launcher", request.node_launcher, "Command that starts one task on each node")
      ->type_name("COMMAND")
      ->capture_default_str();
  app.add_flag("--gpus-as-total", options.old_gpus_as_total)->group("");
}

} // namespace

void add_batch(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "batch", k_batch_help);
  const auto options = std::make_shared<BatchOptions>();
  command->allow_extras();
  command->fallthrough(false);
  add_job_options(*command, *options);
  command
      ->add_option("--save-before", options->save_before, "Signal the ranks this long before the time limit")
      ->type_name("TIME");
  command->add_option("--save-signal", options->save_signal, "Signal that asks the ranks to save")
      ->type_name("SIGNAL")
      ->capture_default_str();
  command->add_option("--save-by", options->old_save_by)->group("");
  options->max_requeues =
      command->add_option("--max-requeues", options->request.max_requeues, "Requeue the job up to N times")
          ->type_name("N")
          ->check(whole_number(0, 1000000))
          ->capture_default_str();
  command->add_option("--requeue-on", options->requeue_on, "Failures after which the job is requeued")
      ->type_name("CAUSES");
  command->add_flag("--expedited", options->request.is_expedited,
                    "The job was submitted with --requeue=expedite");
  command->add_option("--submit-command", options->request.submit_command, "Command that submits jobs")
      ->type_name("COMMAND")
      ->capture_default_str();
  command
      ->add_option("--chain", options->chain,
                   "First job of a chain, and the number of jobs before this one: 4711:2")
      ->type_name("JOB:N");
  command->callback(
      [command, options, &context, &exit_code] { exit_code = run_batch(*command, *options, context); });
}

} // namespace hpcml::cli
