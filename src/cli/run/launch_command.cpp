// SPDX-License-Identifier: MIT
// hpcml launch: inside a step, or on one machine, from flags to ranks.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/parse_error.hpp"
#include "cli/runtime_context.hpp"
#include "core/config/merged_profile.hpp"
#include "core/config/site_store.hpp"
#include "core/diag/visible_text.hpp"
#include "core/util/embedded.hpp"
#include "core/util/result.hpp"
#include "core/util/text.hpp"
#include "run/agent/agent.hpp"
#include "run/agent/agent_request.hpp"
#include "run/find_torch/python_command.hpp"
#include "run/launch/launch.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/system_view.hpp"
#include "run/resolve/task_place.hpp"

namespace hpcml::cli {

namespace {

// `hpcml launch` as the agent of a node, if its flags request what only an agent can do.

using util::Error;

/// The line that starts one agent per node, for a step of this shape.
std::string right_line(const slurm::StepTaskPosition& layout, const util::EnvSnapshot& env) {
  auto ranks = std::to_string(layout.local_world_size);
  if (layout.local_world_size == 1) ranks = env.get_or("SLURM_GPUS_ON_NODE", "RANKS");
  return fmt::format("srun --ntasks={} --ntasks-per-node=1 hpcml launch --nproc-per-node {} …",
                     layout.node_count(), ranks);
}

/// Returns the number of nodes of a step of agents: one task per node, with --nproc-per-node, on the
/// requested number of nodes.
util::Result<unsigned> count_nodes(const launch::LaunchRequest& request,
                                   const launch::RuntimeContext& runtime) {
  const auto options = model::options_for_agent(request.rank_settings);
  TRY(const auto place, launch::find_task_place(request, runtime, launch::SystemNodeQueries(runtime),
                                                launch::RankZeroNodeRule::of_nodes));
  if (!request.processes_per_node)
    return Error{fmt::format("with {} one agent per node starts the ranks, but this step has {} on this node "
                             "and no --nproc-per-node",
                             options, util::counted(place.layout.local_world_size, "task")),
                 fmt::format("use {}", right_line(place.layout, runtime.env))};
  const auto& range = request.rank_settings.nnodes;
  const auto nodes = place.layout.node_count();
  if (range && (nodes < range->value.least || nodes > range->value.most))
    return Error{fmt::format("--nnodes {} does not match the step of srun, which has {}", range->value.text(),
                             util::counted(nodes, "node")),
                 fmt::format("use --nnodes {0}, or a range: --nnodes 1:{0}", nodes)};
  return nodes;
}

/// Returns the request for the agent of this node. The hint of an error is the command to use in a step with
/// one task per rank, or with another number of nodes.
util::Result<agent::AgentRequest> make_agent_request(launch::LaunchRequest launch,
                                                     const launch::RuntimeContext& runtime) {
  const auto& rank_settings = launch.rank_settings;
  if (auto fault = model::find_contradiction(rank_settings)) return std::move(*fault);
  unsigned nodes = 1;
  if (launch::in_task(launch, runtime)) {
    TRY(nodes, count_nodes(launch, runtime));
  } else if (rank_settings.nnodes && rank_settings.nnodes->value.most > 1) {
    return Error{
        fmt::format("--nnodes {} outside a step of srun: hpcml launch does not know the other machines",
                    rank_settings.nnodes->value.text()),
        fmt::format("use srun --ntasks-per-node=1 hpcml launch … in a job, or hpcml torchrun --nnodes {} "
                    "--rdzv-endpoint HOST:PORT … on each machine",
                    rank_settings.nnodes->value.text())};
  }
  agent::AgentRequest request;
  request.max_restarts = model::value_or(rank_settings.max_restarts, 0U);
  if (const auto seconds = model::value_or(rank_settings.stall_timeout, 0U); seconds > 0)
    request.stall_timeout = std::chrono::seconds(seconds);
  const auto heartbeat = model::heartbeat_seconds(rank_settings);
  request.heartbeat = {std::chrono::seconds(heartbeat.interval), std::chrono::seconds(heartbeat.timeout)};
  if (rank_settings.log_dir) {
    request.log_directory = rank_settings.log_dir->value.path;
    launch.output.tee.others = {true, true}; // shown as without an agent, and kept
  }
  if (rank_settings.nnodes) {
    request.min_nodes = rank_settings.nnodes->value.least;
    request.max_nodes = nodes; // a smaller step has no other nodes to wait for
  }
  request.launch = std::move(launch);
  return request;
}

/// Returns a line that describes what the agent does in addition to starting the ranks.
std::string describe_agent(const agent::AgentRequest& request) {
  std::vector<std::string> clauses = {"# the agent of this node supervises its ranks"};
  if (!request.log_directory.empty())
    clauses.push_back(fmt::format("their output is written to {}", request.log_directory));
  if (request.max_restarts > 0)
    clauses.push_back(fmt::format("after a failure all ranks are restarted, at most {}",
                                  util::counted(request.max_restarts, "time")));
  if (request.stall_timeout)
    clauses.push_back(
        fmt::format("they are stopped after {} s without output", request.stall_timeout->count()));
  if (request.min_nodes < request.max_nodes)
    clauses.push_back(fmt::format("they continue with {} of {} nodes", request.min_nodes, request.max_nodes));
  return util::join(clauses, "; ");
}

struct LaunchFlags {
  launch::LaunchRequest request;
  std::string site;
  std::string bind = "auto";
  std::string rank_order = "gpu";
  unsigned gpus_per_task = 0;
  unsigned gpus_per_node = 0;
  unsigned processes_per_node = 0;
  unsigned master_port = 0;
  unsigned grace = 0;
  std::string address_of;
  bool module = false;
  bool dry_run = false;
  CLI::Option* gpus_option = nullptr;
  CLI::Option* processes_option = nullptr;
  CLI::Option* node_gpus_option = nullptr;
  CLI::Option* port_option = nullptr;
  CLI::Option* grace_option = nullptr;
};

launch::BindMode bind_mode(const std::string& text) {
  if (text == "apply") return launch::BindMode::apply;
  if (text == "verify") return launch::BindMode::verify;
  return text == "none" ? launch::BindMode::none : launch::BindMode::automatic;
}

int fail(const Context& context, const launch::RuntimeContext& runtime, const std::string& phase,
         const util::Error& error) {
  return launch::report_failure({k_cannot_set_up, phase, error, {}, runtime.host}, context.env);
}

util::Error unexpected_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> more;
  for (const auto& flag : model::k_rank_flags) more.push_back("--" + std::string(flag.name));
  auto hint = near_option_hint(app, word, more);
  return {fmt::format("unexpected argument '{}'", word),
          hint.empty() ? "run 'hpcml launch --help'; put options of the program after the program" : hint};
}

/// Returns the words of the program: literally those after "--", else a script or module for the active
/// Python.
util::Result<std::vector<std::string>> command_of(const CLI::App& app, const LaunchFlags& flags,
                                                  const Context& context) {
  auto words = app.remaining();
  if (words.empty() && !flags.module) {
    if (context.program.empty())
      return util::Error{"no command given",
                         "use hpcml launch [OPTIONS] -- COMMAND or hpcml launch [OPTIONS] SCRIPT"};
    return context.program;
  }
  if (context.has_program) {
    words.emplace_back("--");
    words.insert(words.end(), context.program.begin(), context.program.end());
  }
  if (!words.empty() && words.front().size() > 1 && words.front().front() == '-')
    return unexpected_option(app, words.front());
  return find_torch::find_python_command(words, flags.module, context.env);
}

/// Reads what the step's variables set and no flag does; returns the error of an invalid value.
std::optional<util::Error> read_step_variables(model::RankSettings& request, const util::EnvSnapshot& env) {
  for (const auto& flag : model::k_rank_flags) {
    const auto name = model::variable_of(flag.name);
    const auto text = env.get_or(name, "");
    if (text.empty() || flag.origin(request) != nullptr) continue;
    if (const auto fault = flag.read(request, text, {model::OriginKind::environment, name, {}, {}, {}}))
      return util::Error{fmt::format("{}: {}", name, fault->what), fault->hint};
  }
  return std::nullopt;
}

/// Starts what was asked for, or prints what would be started.
int run_request(const launch::LaunchRequest& request, const launch::RuntimeContext& runtime, bool dry_run,
                const Context& context) {
  std::optional<agent::AgentRequest> agent;
  if (model::is_agent(request.rank_settings)) {
    auto agent_request = make_agent_request(request, runtime);
    if (!agent_request) return fail(context, runtime, "layout", agent_request.error());
    agent = std::move(*agent_request);
  }
  if (!dry_run) return agent ? agent::run_agent(*agent, runtime) : launch::run_launch(request, runtime);
  const auto text = launch::describe_launch(request, runtime);
  if (!text) return fail(context, runtime, "layout", text.error());
  auto lines = util::split(*text, '\n');
  lines.pop_back(); // empty, after the last line break
  if (agent) lines.push_back(describe_agent(*agent));
  for (const auto& line : lines) std::cout << diag::visible_text(line) << '\n';
  return k_ok;
}

int run_flags(const CLI::App& app, LaunchFlags& flags, const Context& context) {
  const auto runtime = runtime_context_of(context);
  if (!flags.address_of.empty()) {
    const auto address = launch::interface_address(flags.address_of);
    if (!address) return fail(context, runtime, "address", address.error());
    std::cout << *address << "\n";
    return k_ok;
  }
  auto& request = flags.request;
  if (!flags.site.empty()) {
    auto load = config::load_site(flags.site, config::site_directories(context.sites_dirs, context.env),
                                  embedded::merged_sites());
    if (!load.site) {
      print_diagnostics(load.diagnostics, load.source, context.colour);
      return fail(context, runtime, "site",
                  {fmt::format("cannot use the profile of site '{}' on this node", flags.site),
                   "put it where all nodes read it: in a shared directory (hpcml gen --sites-dir DIR), or in "
                   "/etc/hpcml/sites of each node"});
    }
    request.site = std::move(load.site);
  }
  request.bind = bind_mode(flags.bind);
  auto order = model::GpuOrder::parse(flags.rank_order);
  if (!order)
    return fail(context, runtime, "order",
                {fmt::format("--rank-order: {}", order.error().what), order.error().hint});
  request.rank_order = std::move(*order);
  if (flags.gpus_option->count() > 0) request.gpus_per_task = flags.gpus_per_task;
  if (flags.node_gpus_option->count() > 0) request.job.gpus_per_node = flags.gpus_per_node;
  if (flags.processes_option->count() > 0) request.processes_per_node = flags.processes_per_node;
  if (flags.port_option->count() > 0) request.master_port = flags.master_port;
  if (flags.grace_option->count() > 0) request.grace = std::chrono::seconds(flags.grace);
  if (const auto fault = read_step_variables(request.rank_settings, context.env))
    return fail(context, runtime, "environment", *fault);
  auto command = command_of(app, flags, context);
  if (!command) {
    const int code = fail(context, runtime, "command", command.error());
    print_usage(app, context);
    return code;
  }
  request.command = std::move(*command);
  return run_request(request, runtime, flags.dry_run, context);
}

constexpr CommandHelp k_launch_help = {
    .summary = "Start distributed ranks, under srun or on one machine",
    .examples = R"(# Two ranks on this machine
hpcml launch --nproc-per-node 2 train.py --epochs 3
# In a job, one rank per task of srun
srun hpcml launch --site lumi -- ./train
# In a job, one agent per node, which restarts all ranks after a failure
srun --ntasks-per-node=1 --ntasks=4 hpcml launch --nproc-per-node 8 \
    --log-dir logs --max-restarts 3 -- ./train)",
    .notes =
        R"(A command after -- is run unchanged. Without --, a SCRIPT or a module (-m) is run by the active Python.

In a task of srun, hpcml sets up the rank and replaces itself with the program. With --nproc-per-node,
and outside Slurm, it starts and supervises the ranks.

HPCML_* variables (HPCML_STORE for --store) set the options below "Ranks" and "Checkpoint, requeue and
restart" as well. $HPCML_ERROR_DIR collects failures as JSON files.

Exit codes:
  the program's own (128 + signal)
  6    the preflight found a faulty rank
  125  the ranks could not be set up
  126  the command cannot be executed
  127  the command was not found)",
    .common =
        "--site --nproc-per-node --module --bind --gpus-per-task --cpus-per-task --backend --agent --log-dir "
        "--max-restarts --stall-timeout --preflight --report --dry-run",
    .usage = "[OPTIONS] -- COMMAND [ARGS]...\n[OPTIONS] SCRIPT [ARGS]...",
};

constexpr const char* k_placement_group = "Placement";
constexpr const char* k_job_facts_group = "Facts about the job (set by generated scripts)";

/// Adds an option whose value is one of the words of E; the target is E or std::optional<E>.
template <class Target>
CLI::Option* add_word(CLI::App& app, const std::string& name, Target& target, const std::string& text) {
  using E = decltype([] {
    if constexpr (std::is_enum_v<Target>)
      return Target{};
    else
      return typename Target::value_type{};
  }());
  auto* option = app.add_option_function<std::string>(
      name, [&target](const std::string& word) { target = *model::find_word<E>(word); }, text);
  if constexpr (std::is_enum_v<Target>) option->default_str(model::word_of(target));
  return option->check(one_of(model::words_of<E>()));
}

/// Adds an option that reaches the ranks unchanged.
void add_rank_flag(CLI::App& app, const model::RankSettingFlag& flag, model::RankSettings& request) {
  const auto name = "--" + std::string(flag.name);
  const auto read = [&flag, &request, name](const std::string& text) {
    const auto fault = flag.read(request, text, {model::OriginKind::flag, name, {}, {}, {}});
    if (fault) throw CLI::ValidationError(name, fault->what);
  };
  const std::string group(flag.group);
  if (flag.is_switch()) {
    app.add_flag_callback(
           name, [read] { read("true"); }, std::string(flag.help))
        ->group(group);
    return;
  }
  auto* option = app.add_option_function<std::string>(name, read, std::string(flag.help));
  option->type_name(std::string(flag.type))->default_str(std::string(flag.fallback))->group(group);
  if (const auto words = flag.words(); !words.empty()) option->check(one_of(words));
}

void add_launch_options(CLI::App& app, LaunchFlags& flags) {
  app.add_option("--site", flags.site, "Use this site's profile, not only what the node reports")
      ->type_name("SITE");
  flags.processes_option = app.add_option("--nproc-per-node,--nproc_per_node", flags.processes_per_node,
                                          "Start and supervise N ranks on this node")
                               ->type_name("N")
                               ->check(whole_number(1, 4096));
  app.add_flag("-m,--module", flags.module, "Run a Python module instead of a script");
  flags.port_option = app.add_option("--master-port,--master_port", flags.master_port, "Port of rank 0")
                          ->type_name("PORT")
                          ->check(whole_number(1, 65535))
                          ->default_str("by job and step");
  const auto seconds = [](std::chrono::seconds time) { return std::to_string(time.count()); };
  flags.grace_option = app.add_option("--grace", flags.grace, "Time for ranks to exit before they are killed")
                           ->type_name("SECONDS")
                           ->check(whole_number(0, 86400))
                           ->default_str(seconds(launch::k_grace_after_failure) + " after a failure, " +
                                         seconds(launch::k_grace_after_signal) + " after a signal");
  app.add_flag("--container", flags.request.container, "Prepare the command to enter a container");
  app.add_flag("--dry-run", flags.dry_run, "Print what would be set and started, and exit");
  app.add_option("--address-of", flags.address_of, "Print the address of this network interface, and exit")
      ->type_name("INTERFACE");
}

void add_placement_options(CLI::App& app, LaunchFlags& flags) {
  auto& request = flags.request;
  app.add_option("--bind", flags.bind, "Bind CPUs (apply), check the binding of srun (verify), or neither")
      ->type_name("MODE")
      ->check(one_of({"auto", "apply", "verify", "none"}))
      ->capture_default_str()
      ->group(k_placement_group);
  flags.gpus_option = app.add_option("--gpus-per-task", flags.gpus_per_task, "GPUs per rank")
                          ->type_name("N")
                          ->check(whole_number(0, 1024))
                          ->default_str("1")
                          ->group(k_placement_group);
  app.add_option("--cpus-per-task", request.cpus_per_task, "Physical cores per rank")
      ->type_name("N")
      ->check(whole_number(0, 65536))
      ->group(k_placement_group);
  app.add_option("--threads-per-core", request.threads_per_core, "Hardware threads to use of each core")
      ->type_name("N")
      ->check(whole_number(1, 16))
      ->capture_default_str()
      ->group(k_placement_group);
  add_word(app, "--idle-cores", request.idle_cores,
           "Use of cores in NUMA nodes without GPUs: none, or ranks of the package")
      ->type_name("USE")
      ->group(k_placement_group);
  app.add_option("--rank-order", flags.rank_order,
                 "Assign GPUs to ranks by gpu, cpu or ring (links), or in a list: 0,1,3,2")
      ->type_name("ORDER")
      ->capture_default_str()
      ->group(k_placement_group);
  add_word(app, "--gpu-visibility", request.gpu_visibility,
           "GPUs that a rank sees: all of its node, or only its own")
      ->type_name("GPUS")
      ->default_str("the site's")
      ->group(k_placement_group);
  add_word(app, "--backend", request.backend, "Backend of the process group")
      ->type_name("NAME")
      ->group(k_placement_group);
}

void add_job_facts(CLI::App& app, LaunchFlags& flags) {
  auto& request = flags.request;
  const auto add = [&](const std::string& name, std::string& target, const std::string& text,
                       const std::string& value) {
    app.add_option(name, target, text)->type_name(value)->group(k_job_facts_group);
  };
  add("--profile-hash", request.profile_hash, "Hash of the profile that the script was generated with",
      "HASH");
  add("--partition", request.partition, "Partition of the job", "NAME");
  add("--node-type", request.job.node_type, "Node type of the job in the profile", "TYPE");
  add("--qos", request.job.qos, "Quality of service (QoS) of the job", "NAME");
  add("--gpu-type", request.job.gpu_type, "GPU type or MIG instance that the job requested", "TYPE");
  flags.node_gpus_option =
      app.add_option("--gpus-per-node", flags.gpus_per_node, "GPUs of the job on each node")
          ->type_name("N")
          ->check(whole_number(0, 1024))
          ->group(k_job_facts_group);
}

} // namespace

void add_launch(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "launch", k_launch_help);
  command->prefix_command();
  command->fallthrough(false); // options after the script are the script's
  auto flags = std::make_shared<LaunchFlags>();
  add_launch_options(*command, *flags);
  add_placement_options(*command, *flags);
  // Each rank of a step pays for every option that is registered.
  for (const auto& flag : model::k_rank_flags)
    if (context.wants("--" + std::string(flag.name)))
      add_rank_flag(*command, flag, flags->request.rank_settings);
  add_job_facts(*command, *flags);
  command->callback([command, flags, &context, &exit_code] {
    exit_code = run_flags(*command, *flags, context);
    if (exit_code != k_ok) launch::wait_for_output_flush(context.env);
  });
}

} // namespace hpcml::cli
