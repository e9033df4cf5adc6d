// SPDX-License-Identifier: MIT
// hpcml launch: inside a step, or on one machine, from flags to ranks.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>

#include "cli/command.hpp"
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
#include "run/launch/failure.hpp"
#include "run/launch/launch.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/task_place.hpp"

namespace hpcml::cli {

namespace {

// The agent that `hpcml launch` is on a node where its flags ask for what only one that stays can do.

using util::Error;

/// The line that starts one agent per node, for a step of this shape.
std::string right_line(const slurm::StepLayout& layout, const util::EnvSnapshot& env) {
  auto ranks = std::to_string(layout.local_world_size);
  if (layout.local_world_size == 1) ranks = env.get_or("SLURM_GPUS_ON_NODE", "RANKS");
  return "srun --ntasks=" + std::to_string(layout.node_count()) +
         " --ntasks-per-node=1 hpcml launch --nproc-per-node " + ranks + " …";
}

/// The nodes of the step, where it is one of agents: one task on each node, which is told how many ranks it
/// starts, and as many nodes as were asked for.
util::Result<unsigned> count_nodes(const launch::LaunchRequest& request,
                                   const launch::RuntimeContext& runtime) {
  const auto options = model::options_for_agent(request.rank_request);
  TRY(const auto place, launch::find_task_place(request, runtime, launch::FirstNode::of_nodes));
  if (!request.processes_per_node)
    return Error{"with " + options + " one agent per node starts the ranks, and this step has " +
                     util::counted(place.layout.local_world_size, "task") +
                     " on this node; without --nproc-per-node each of them would be a rank",
                 "say " + right_line(place.layout, runtime.env)};
  const auto& range = request.rank_request.nnodes;
  const auto nodes = place.layout.node_count();
  if (range && (nodes < range->value.least || nodes > range->value.most))
    return Error{"--nnodes " + range->value.text() + " in a step of " + util::counted(nodes, "node"),
                 "say as many as the step has, or fewer before the colon: --nnodes 1:" +
                     std::to_string(nodes)};
  return nodes;
}

/// What the agent of this node is to do. The error says what to type where it cannot be one: in a step with a
/// task for each rank, or of another number of nodes.
util::Result<agent::AgentRequest> make_agent_request(launch::LaunchRequest launch,
                                                     const launch::RuntimeContext& runtime) {
  const auto& rank_request = launch.rank_request;
  if (auto fault = model::find_contradiction(rank_request)) return std::move(*fault);
  unsigned nodes = 1;
  if (launch::in_task(launch, runtime)) {
    TRY(nodes, count_nodes(launch, runtime));
  } else if (rank_request.nnodes && rank_request.nnodes->value.most > 1) {
    return Error{
        fmt::format("--nnodes {} outside a step of srun: the machines have no rendezvous endpoint",
                    rank_request.nnodes->value.text()),
        fmt::format("use srun --ntasks-per-node=1 hpcml launch … in a job, or hpcml torchrun --nnodes {} "
                    "--rdzv-endpoint HOST:PORT … on each machine",
                    rank_request.nnodes->value.text())};
  }
  agent::AgentRequest request;
  request.max_restarts = model::value_or(rank_request.max_restarts, 0U);
  if (const auto seconds = model::value_or(rank_request.stall_timeout, 0U); seconds > 0)
    request.stall_timeout = std::chrono::seconds(seconds);
  const auto heartbeat = model::heartbeat_seconds(rank_request);
  request.heartbeat = {std::chrono::seconds(heartbeat.interval), std::chrono::seconds(heartbeat.timeout)};
  if (rank_request.log_dir) {
    request.log_directory = rank_request.log_dir->value.path;
    launch.output.tee.others = {true, true}; // shown as without an agent, and kept
  }
  if (rank_request.nnodes) {
    request.min_nodes = rank_request.nnodes->value.least;
    request.max_nodes = nodes; // a step of fewer has nobody else to wait for
  }
  request.launch = std::move(launch);
  return request;
}

/// What it would do besides starting the ranks, as a line for people.
std::string describe_agent(const agent::AgentRequest& request) {
  std::string text = "# the agent of this node stays with its ranks";
  if (!request.log_directory.empty()) text += "; what they write goes into " + request.log_directory;
  if (request.max_restarts > 0)
    text += "; where one fails all are started again, at most " + util::counted(request.max_restarts, "time");
  if (request.stall_timeout)
    text += "; they are ended after " + std::to_string(request.stall_timeout->count()) +
            " s without a word of any";
  if (request.min_nodes < request.max_nodes)
    text += "; they go on with " + std::to_string(request.min_nodes) + " of " +
            std::to_string(request.max_nodes) + " nodes";
  return text;
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

/// The words of the program: literal behind "--", else a script or module for the active Python.
util::Result<std::vector<std::string>> command_of(const CLI::App& app, const LaunchFlags& flags,
                                                  const Context& context) {
  auto words = app.remaining();
  if (words.empty() && !flags.module) {
    if (context.program.empty())
      return util::Error{"no command given", "run hpcml launch [OPTIONS] -- COMMAND [ARGS]..."};
    return context.program;
  }
  if (context.has_program) {
    words.emplace_back("--");
    words.insert(words.end(), context.program.begin(), context.program.end());
  }
  if (!words.empty() && words.front().size() > 1 && words.front().front() == '-')
    return util::Error{fmt::format("unknown option '{}'", words.front()),
                       "run hpcml launch --help; put options of the program after the program"};
  return find_torch::find_python_command(words, flags.module, context.env);
}

/// What the step's variables ask for where no flag does.
std::optional<util::Error> read_step_variables(model::RankRequest& request, const util::EnvSnapshot& env) {
  for (const auto& flag : model::k_rank_flags) {
    const auto name = model::variable_of(flag.name);
    const auto text = env.get_or(name, "");
    if (text.empty() || flag.origin(request) != nullptr) continue;
    if (const auto fault = flag.read(request, text, {model::OriginKind::environment, name, {}, {}, {}}))
      return util::Error{name + " " + fault->what, fault->hint};
  }
  return std::nullopt;
}

/// Starts what was asked for, or prints what would be started.
int run_request(const launch::LaunchRequest& request, const launch::RuntimeContext& runtime, bool dry_run,
                const Context& context) {
  std::optional<agent::AgentRequest> agent;
  if (model::is_agent(request.rank_request)) {
    auto agent_request = make_agent_request(request, runtime);
    if (!agent_request) return fail(context, runtime, "layout", agent_request.error());
    agent = std::move(*agent_request);
  }
  if (!dry_run) return agent ? agent::run_agent(*agent, runtime) : launch::run_launch(request, runtime);
  const auto text = launch::describe_launch(request, runtime);
  if (!text) return fail(context, runtime, "layout", text.error());
  auto lines = util::split(*text, '\n');
  lines.pop_back(); // behind the last line's end
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
                  {"the profile of site '" + flags.site + "' cannot be used",
                   "hpcml sites list names those that can"});
    }
    request.site = std::move(load.site);
  }
  request.bind = bind_mode(flags.bind);
  auto order = model::GpuOrder::parse(flags.rank_order);
  if (!order)
    return fail(context, runtime, "order", {"--rank-order: " + order.error().what, order.error().hint});
  request.rank_order = std::move(*order);
  if (flags.gpus_option->count() > 0) request.gpus_per_task = flags.gpus_per_task;
  if (flags.node_gpus_option->count() > 0) request.job.gpus_per_node = flags.gpus_per_node;
  if (flags.processes_option->count() > 0) request.processes_per_node = flags.processes_per_node;
  if (flags.port_option->count() > 0) request.master_port = flags.master_port;
  if (flags.grace_option->count() > 0) request.grace = std::chrono::seconds(flags.grace);
  if (const auto fault = read_step_variables(request.rank_request, context.env))
    return fail(context, runtime, "environment", *fault);
  auto command = command_of(app, flags, context);
  if (!command) return fail(context, runtime, "command", command.error());
  request.command = std::move(*command);
  return run_request(request, runtime, flags.dry_run, context);
}

const char* const k_launch_footer =
    R"(Behind "--" the command is taken as it is; without "--", `train.py ARGS` (or -m MODULE) runs under the active Python.
In a task of srun the program replaces hpcml. With --nproc-per-node, or without Slurm, hpcml starts the ranks and stays.
With --agent, --log-dir, --max-restarts, --stall-timeout or --nnodes it is the agent of its node
(docs/guides/restart-failed-ranks.md).

Examples:
  srun hpcml launch --site lumi -- ./train
  hpcml launch --nproc-per-node 2 -- ./train_ddp
  hpcml launch train.py --epochs 3
  srun --ntasks-per-node=1 --ntasks=4 hpcml launch --nproc-per-node 8 --log-dir logs --max-restarts 3 -- ./train

Exit codes: the program's own (128+signal when it was killed), 125 launch could not set up, 126 the command cannot be
executed, 127 it was not found, 6 the preflight found a culprit. $HPCML_ERROR_DIR collects failures as JSON files.)";

/// An option whose value is one of a few words: E, or std::optional of it.
template <class Target>
void add_word(CLI::App& app, const std::string& name, Target& target, const std::string& text) {
  using E = decltype([] {
    if constexpr (std::is_enum_v<Target>)
      return Target{};
    else
      return typename Target::value_type{};
  }());
  app.add_option_function<std::string>(
         name, [&target](const std::string& word) { target = *model::find_word<E>(word); }, text)
      ->check(CLI::IsMember(model::words_of<E>()));
}

/// What the ranks hear as it was asked for.
void add_asked(CLI::App& app, const model::RankFlag& flag, model::RankRequest& request) {
  const auto name = "--" + std::string(flag.name);
  const auto read = [&flag, &request, name](const std::string& text) {
    const auto fault = flag.read(request, text, {model::OriginKind::flag, name, {}, {}, {}});
    if (fault) throw CLI::ValidationError(name, fault->what);
  };
  if (flag.is_switch()) {
    app.add_flag_callback(
        name, [read] { read("true"); }, std::string(flag.help));
    return;
  }
  auto* option = app.add_option_function<std::string>(name, read, std::string(flag.help));
  option->type_name(std::string(flag.type));
  if (const auto words = flag.words(); !words.empty()) option->check(CLI::IsMember(words));
}

void add_flags(CLI::App& app, LaunchFlags& flags, const Context& context) {
  auto& request = flags.request;
  app.add_option("--site", flags.site, "use this site's facts; without it only what the node shows")
      ->type_name("SITE");
  app.add_option("--profile-hash", request.profile_hash, "the profile that the script was made with")
      ->type_name("HASH");
  app.add_option("--partition", request.partition,
                 "the job's partition, where the site's facts depend on it");
  app.add_option("--node-type", request.job.node_type, "the profile's kind of node that the job has")
      ->type_name("ID");
  app.add_option("--qos", request.job.qos, "the job's quality of service")->type_name("NAME");
  app.add_option("--gpu-type", request.job.gpu_type, "the kind, or the part, of GPU that the job asked for")
      ->type_name("TYPE");
  flags.node_gpus_option =
      app.add_option("--gpus-per-node", flags.gpus_per_node, "GPUs of the job on each node")
          ->check(CLI::Range(0U, 1024U));
  app.add_option("--bind", flags.bind, "who binds the CPUs: apply (hpcml), verify (srun has), auto, none")
      ->check(CLI::IsMember({"auto", "apply", "verify", "none"}));
  app.add_option("--cpus-per-task", request.cpus_per_task, "physical cores of a rank")
      ->check(CLI::Range(0U, 65536U));
  app.add_option("--threads-per-core", request.threads_per_core, "hardware threads of each of these cores")
      ->check(CLI::Range(1U, 16U));
  add_word(app, "--idle-cores", request.idle_cores,
           "cores of NUMA nodes without GPUs: none, or to ranks of the same package");
  app.add_option("--rank-order", flags.rank_order,
                 "ranks take the GPUs by gpu (number), cpu, ring (links), or as listed: 0,1,3,2")
      ->type_name("ORDER");
  flags.gpus_option = app.add_option("--gpus-per-task", flags.gpus_per_task, "GPUs that a rank counts on")
                          ->check(CLI::Range(0U, 1024U));
  add_word(app, "--gpu-visibility", request.gpu_visibility,
           "what a rank sees of the node's GPUs: all, or its own");
  add_word(app, "--backend", request.backend, "process group: auto, nccl, gloo");
  app.add_flag("--container", request.container, "the command enters a container");
  flags.processes_option = app.add_option("--nproc-per-node,--nproc_per_node", flags.processes_per_node,
                                          "start and supervise so many ranks here")
                               ->check(CLI::Range(1U, 4096U));
  flags.port_option = app.add_option("--master-port,--master_port", flags.master_port,
                                     "the port of rank 0 instead of one made from job and step")
                          ->check(CLI::Range(1U, 65535U));
  flags.grace_option =
      app.add_option("--grace", flags.grace,
                     "seconds until KILL for ranks that are asked to end: when one has failed (default 10), "
                     "and after INT or TERM "
                     "(default 30, in a job Slurm's own limit); a second INT or TERM kills at once")
          ->type_name("SECONDS")
          ->check(CLI::Range(0U, 86400U));
  // Each of a step's ranks pays for every flag that is registered.
  for (const auto& flag : model::k_rank_flags)
    if (context.wants("--" + std::string(flag.name))) add_asked(app, flag, request.rank_request);
  app.add_flag("--dry-run", flags.dry_run, "print what would be set and started, and do nothing");
  app.add_option("--address-of", flags.address_of,
                 "print this interface's address (IPv4 where it has one) and end")
      ->type_name("INTERFACE");
  app.add_flag("-m,--module", flags.module, "run a Python module instead of a script");
}

} // namespace

void add_launch(CLI::App& app, Context& context, int& exit_code) {
  auto* command =
      app.add_subcommand("launch", "Turn a task of a step into a rank, or start the ranks of this machine.");
  command->prefix_command();
  command->fallthrough(false); // what stands behind the script is the script's, also a flag that hpcml has
  command->footer(k_launch_footer);
  auto flags = std::make_shared<LaunchFlags>();
  add_flags(*command, *flags, context);
  command->callback([command, flags, &context, &exit_code] {
    exit_code = run_flags(*command, *flags, context);
    if (exit_code != k_ok) launch::wait_for_output_flush(context.env);
  });
}

} // namespace hpcml::cli
