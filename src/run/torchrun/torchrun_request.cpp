// SPDX-License-Identifier: MIT
#include "run/torchrun/torchrun_request.hpp"

#include <fmt/format.h>

#include "core/slurm/step_env.hpp"
#include "core/topo/live_node.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/find_torch/python_command.hpp"
#include "run/resolve/gpus.hpp"
#include "run/resolve/task_place.hpp"
#include "run/torchrun/torchrun_rendezvous.hpp"
#include "run/torchrun/torchrun_values.hpp"

namespace hpcml::torchrun {

using util::Error;
using util::Result;

namespace {

constexpr const char* k_default_prefix = "[${role_name}${local_rank}]:";
constexpr const char* k_no_files = "/dev/null";

Result<unsigned> count_ranks(const RanksPerNode& ranks, const TorchrunNodeFacts& node) {
  using Of = RanksPerNode::Of;
  const bool intel = node.vendor == model::GpuVendor::intel;
  switch (ranks.of) {
  case Of::number: return ranks.number;
  case Of::cpus: return node.cpus;
  case Of::gpus_or_cpus: return node.gpus > 0 ? node.gpus : node.cpus;
  case Of::gpus:
    if (node.gpus > 0 && !intel) return node.gpus;
    return Error{
        node.gpus == 0 ? "--nproc-per-node gpu: no GPU is visible to this process"
                       : "--nproc-per-node gpu does not count Intel GPUs, and this node has no others",
        node.gpus == 0
            ? "request GPUs for the job, or use --nproc-per-node auto (one rank per CPU without GPUs)"
            : "use --nproc-per-node xpu or auto"};
  case Of::xpus: break;
  }
  if (node.gpus > 0 && intel) return node.gpus;
  return Error{"--nproc-per-node xpu: no Intel GPU is visible to this process",
               "use --nproc-per-node auto, which counts all GPUs, or CPUs on nodes without GPUs"};
}

/// The ranks of this node, and which GPUs each sees.
util::Status plan_ranks(const TorchrunRequest& line, const TorchrunNodeFacts& node, TorchrunPlan& plan) {
  auto& launch = plan.request.launch;
  TRY(launch.processes_per_node, count_ranks(line.ranks.value_or(RanksPerNode{}), node));
  if (!line.ranks && node.gpus > 1)
    plan.notes.push_back(fmt::format("starting 1 rank on this node, the default of torchrun\n"
                                     "hint: set --nproc-per-node gpu to start one for each of {} GPUs",
                                     node.gpus));
  launch.gpu_visibility =
      line.virtual_local_rank ? model::GpuVisibilityMode::own : model::GpuVisibilityMode::all;
  launch.virtual_local_rank = line.virtual_local_rank;
  if (line.virtual_local_rank && node.gpus > 0) launch.gpus_per_task = 1;
  launch.fills_in_local_rank = true;
  return util::Success{};
}

void plan_output(const TorchrunRequest& line, const util::EnvSnapshot& env, TorchrunPlan& plan) {
  auto& output = plan.request.launch.output;
  output.role = plan.request.role = line.role;
  output.prefix = env.get_or("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE", k_default_prefix);
  output.only_tee_has_prefix = true;
  output.shown = line.shown;
  if (line.log_directory == k_no_files) { // torchrun shows all then, whatever -r and -t say
    plan.notes.push_back(fmt::format("--log-dir {} writes no log files: all output is shown\n"
                                     "hint: set --log-dir to a directory to write log files",
                                     k_no_files));
    return;
  }
  plan.request.log_directory = line.log_directory;
  output.redirects = line.redirects;
  output.tee = line.tee;
  output.out_filters = line.out_filters;
  output.err_filters = line.err_filters;
  const auto writes = [](const launch::StreamsOfRanks& streams) {
    bool any = streams.others != launch::OutputStreams{};
    for (const auto& [rank, routes] : streams.named) any = any || routes != launch::OutputStreams{};
    return any;
  };
  plan.needs_directory =
      line.log_directory.empty() &&
      (writes(line.redirects) || writes(line.tee) || !line.out_filters.empty() || !line.err_filters.empty());
}

util::Status plan_end(const TorchrunRequest& line, const util::EnvSnapshot& env, TorchrunPlan& plan) {
  plan.request.max_restarts = line.max_restarts;
  plan.request.launch.grace = line.shutdown_timeout;
  const auto text = env.get_or("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "");
  if (line.shutdown_timeout || text.empty()) return util::Success{};
  const auto seconds = parse_whole_number(text);
  if (!seconds || *seconds < 0)
    return Error{fmt::format("TORCH_ELASTIC_SHUTDOWN_TIMEOUT must be a number of seconds, not '{}'", text),
                 "set it to a number such as 30, or remove the variable"};
  plan.request.launch.grace = std::chrono::seconds(*seconds);
  return util::Success{};
}

} // namespace

TorchrunNodeFacts read_torchrun_node(const launch::RuntimeContext& context) {
  TorchrunNodeFacts node;
  const auto gpus = topo::read_live_gpus();
  node.vendor = gpus.vendor;
  node.gpus = static_cast<unsigned>(
      launch::find_visible_gpus(context.env, "", static_cast<unsigned>(gpus.places.size())).entries.size());
  if (const auto cpus = topo::read_allowed_cpus()) node.cpus = static_cast<unsigned>(cpus->size());
  node.in_task = launch::in_task(launch::LaunchRequest{}, context);
  if (node.in_task)
    if (const auto layout = slurm::read_step_layout(context.env)) node.step_nodes = layout->node_count();
  node.fresh_id = util::trim(util::read_file("/proc/sys/kernel/random/uuid").value_or("none"));
  return node;
}

Result<TorchrunPlan> plan_torchrun(const TorchrunRequest& line, const TorchrunNodeFacts& node,
                                   const util::EnvSnapshot& env) {
  TorchrunPlan plan;
  plan.notes = line.notes;
  TRY_DONE(plan_ranks(line, node, plan));
  TRY_DONE(plan_torchrun_rendezvous(line, node, plan));
  TRY_DONE(plan_end(line, env, plan));
  plan_output(line, env, plan);
  return plan;
}

Result<std::vector<std::string>>
find_torchrun_command(const TorchrunRequest& line, const util::EnvSnapshot& env, const std::string& program) {
  std::vector<std::string> command;
  const bool is_python = line.run_path || !line.no_python;
  if (is_python) {
    const bool module = line.module && !line.run_path;
    if (!module && find_torch::is_compiled_program(line.script))
      return Error{fmt::format("'{}' is a compiled program, not a Python script", line.script),
                   fmt::format("use hpcml torchrun --no-python … {}", line.script)};
    auto python = env.get_or("PYTHON_EXEC", "");
    if (python.empty()) {
      TRY(python, find_torch::find_python_of_program(program, env));
    }
    command = {std::move(python), "-u"};
    if (module) command.emplace_back("-m");
  }
  command.push_back(line.script);
  if (line.pass_local_rank) command.emplace_back("--local-rank=${local_rank}");
  command.insert(command.end(), line.arguments.begin(), line.arguments.end());
  return command;
}

util::EnvSnapshot without_rank_variables(util::EnvSnapshot env) {
  for (const auto* name :
       {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "NODE_RANK",
        "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
    env.unset(name);
  return env;
}

} // namespace hpcml::torchrun
