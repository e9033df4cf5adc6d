// SPDX-License-Identifier: MIT
// What starts the ranks, and who binds them to cores.
#include <algorithm>
#include <fmt/format.h>

#include "core/topo/rank_order.hpp"
#include "generate/plan/launch_plan.hpp"
#include "generate/plan/plan_survival.hpp"

namespace hpcml::plan {
namespace {

const model::LauncherRule* find_rule(const RequestWithLayout& input, const std::string& name) {
  for (const auto& rule : input.site.launchers)
    if (rule.name == name && input.applies(rule.when)) return &rule;
  return nullptr;
}

/// The site's choice among those that hold for the job, else the first of them.
const model::LauncherRule* default_rule(const RequestWithLayout& input) {
  const model::LauncherRule* chosen = nullptr;
  for (const auto& rule : input.site.launchers)
    if (input.applies(rule.when) && (!chosen || (rule.is_default && !chosen->is_default))) chosen = &rule;
  return chosen;
}

bool masks_are_valid(const RequestWithLayout& input, const LaunchPlan& launch, std::string& why) {
  const bool full_node =
      input.node() && (input.numbers().gpus_per_node == 0 ||
                       (input.node()->gpu && input.node()->gpu->per_node == input.numbers().gpus_per_node));
  if (input.site.binding.value != model::WholeNodeBinder::masks)
    why = "the profile does not state that CPU masks work";
  else if (!launch.launcher.by_srun())
    why = fmt::format("{} accepts no CPU masks", launch.launcher.step);
  else if (!input.owns_nodes())
    why = "nodes may be shared, so the job's cores are known only when it runs";
  else if (!input.node() || input.node()->cpu.core_threads.empty())
    why = "the profile does not know the node's cores";
  else if (!full_node)
    why = "with fewer GPUs than the node has, their numbers are known only when the job runs";
  else if (input.numbers().gpus_per_node > 0 && input.node()->gpu->places.empty())
    why = "the profile does not know where the GPUs are attached";
  else if (input.numbers().threads_per_core > input.node()->cpu.threads_per_core)
    why = "the profile knows fewer hardware threads of a core";
  else if (launch.binding.order.value.kind == model::GpuOrderKind::ring)
    why = "which GPUs are linked is known only when the job runs";
  else
    return true;
  return false;
}

/// srun takes a word that is a lone ":" for the end of one component of the step, quoted or not.
void check_colons(const RequestWithLayout& input, const model::PlannedLauncher& launcher,
                  PlanStepDiagnostics& diagnostics) {
  const auto has_colon = [](const std::vector<std::string>& command) {
    return std::find(command.begin(), command.end(), ":") != command.end();
  };
  const auto& steps = input.job.steps;
  if (!launcher.by_srun() ||
      (!has_colon(input.job.command) &&
       std::none_of(steps.begin(), steps.end(), [&](const auto& step) { return has_colon(step.command); })))
    return;
  diagnostics.error(
      "usage/command",
      "the program has an argument ':', after which srun expects the program of another component",
      "use a script that contains the whole command: -- bash run.sh");
}

bool runs_once(const model::JobSpec& job) {
  return std::any_of(job.steps.begin(), job.steps.end(), [](const auto& step) { return step.once; }) ||
         (job.body && std::any_of(job.body->pieces.begin(), job.body->pieces.end(),
                                  [](const auto& piece) { return piece.launch.once; }));
}

void check_steps(const RequestWithLayout& input, const model::PlannedLauncher& launcher,
                 PlanStepDiagnostics& diagnostics) {
  if (launcher.by_srun() || !runs_once(input.job)) return;
  diagnostics.error(
      "request/steps",
      fmt::format("a step with one process cannot run: {} starts programs with {}, which cannot start a "
                  "single process",
                  input.site.name, launcher.step),
      input.job.body
          ? "remove the step with one process from the script, or use a separate script for it"
          : "remove \"once\" from the step in the job file, or use a separate job for it (\"jobs\")");
}

/// Plans the order of cores and GPUs as requested, if a launcher can apply it.
void plan_order(const RequestWithLayout& input, LaunchPlan& launch, PlanStepDiagnostics& diagnostics) {
  const model::JobSpec& job = input.job;
  model::PlannedBinding& binding = launch.binding;
  const auto& launcher = launch.launcher.choice;
  if (job.idle_cores) binding.idle_cores = *job.idle_cores;
  if (binding.idle_cores.value != model::IdleCorePolicy::none && !launcher.is_hpcml())
    diagnostics.error(
        "request/idle-cores",
        fmt::format("--idle-cores needs the launcher hpcml: {} does not assign the cores of NUMA nodes "
                    "without GPUs",
                    launcher.name()),
        "remove --idle-cores, or use --launcher hpcml");
  if (!job.rank_order || job.rank_order->value.kind == model::GpuOrderKind::gpu) return;
  binding.order = *job.rank_order;
  const unsigned gpus = input.numbers().gpus_per_node;
  if (gpus == 0)
    return diagnostics.note("--rank-order has no effect in a job without GPUs: remove it, or request GPUs",
                            binding.order.origin);
  if (!launcher.is_hpcml())
    diagnostics.error("request/rank-order",
                      fmt::format("--rank-order {} needs the launcher hpcml: {} does not order the GPUs",
                                  binding.order.value.text(), launcher.name()),
                      "remove --rank-order, or use --launcher hpcml");
  else if (input.gpus_by_task())
    diagnostics.error(
        "request/rank-order",
        fmt::format(
            "--rank-order cannot be used: jobs on {} request GPUs per task, so each rank sees only its own",
            input.site.name),
        "remove --rank-order", input.gpu_request().origin);
  if (binding.order.value.kind != model::GpuOrderKind::list) return;
  std::vector<topo::RankGpuOrderKey> numbers(gpus);
  for (unsigned gpu = 0; gpu < gpus; ++gpu) numbers[gpu].index = gpu;
  const auto order = topo::find_rank_order(numbers, {}, binding.order.value);
  const std::size_t needed = std::min<std::size_t>(gpus, std::size_t{input.numbers().ranks_per_node} *
                                                             input.numbers().gpus_per_rank);
  if (!order)
    diagnostics.error("request/rank-order", order.error().what, order.error().hint);
  else if (order->size() < needed)
    diagnostics.error(
        "request/rank-order",
        fmt::format("--rank-order lists {} GPUs, but the ranks of a node use {}", order->size(), needed),
        fmt::format("add the missing GPUs: --rank-order must list {} numbers", needed));
}

/// The node's GPUs as the ranks take them. An order by CPUs becomes a list: launch has to do what the masks
/// say.
std::vector<model::GpuLocality> places_in_order(const RequestWithLayout& input, model::GpuOrder& order) {
  if (input.numbers().gpus_per_node == 0) return {};
  const auto& places = input.node()->gpu->places;
  if (order.kind == model::GpuOrderKind::gpu) return places;
  std::vector<topo::RankGpuOrderKey> numbers;
  for (std::size_t i = 0; i < places.size(); ++i)
    numbers.push_back({static_cast<unsigned>(i), topo::lowest_cpu(input.node()->cpu, places[i]).value_or(0)});
  const auto positions = topo::find_rank_order(numbers, {}, order);
  if (!positions) return places; // said by plan_order
  std::vector<model::GpuLocality> ordered;
  order = {model::GpuOrderKind::list, {}};
  for (const auto position : *positions) {
    ordered.push_back(places[position]);
    order.list.push_back(static_cast<unsigned>(position));
  }
  return ordered;
}

PlanStepResult<model::PlannedLauncher> plan_launcher(const RequestWithLayout& input) {
  PlanStepResult<model::PlannedLauncher> result;
  auto& [launcher, diagnostics] = result;
  const auto& request = input.request;
  launcher.choice = request.launcher;
  launcher.spawns = request.spawns_ranks();
  launcher.agent_options = request.agent_options;
  launcher.least_nodes = request.least_nodes;
  launcher.origin =
      input.job.launcher ? input.job.launcher->origin : rule_origin("hpcml is the default launcher");
  const model::LauncherRule* site_rule = default_rule(input);
  launcher.step = site_rule ? site_rule->name : "srun";
  if (launcher.choice.is_step()) {
    launcher.step = launcher.choice.name();
    const bool known =
        find_rule(input, launcher.step) || (launcher.by_srun() && input.site.launchers.empty());
    if (!known)
      diagnostics.error(
          "request/launcher",
          fmt::format("--launcher {} cannot be used: the profile of {} does not start programs with it",
                      launcher.step, input.site.name),
          fmt::format("remove --launcher: jobs on {} start programs with {}", input.site.name,
                      site_rule ? site_rule->name : "srun"));
  }
  if (const auto* rule = find_rule(input, launcher.step)) {
    for (const auto& arg : rule->per_node_args) launcher.per_node_args.push_back(input.with_numbers(arg));
    if (launcher.spawns && !launcher.per_node_args.empty())
      launcher.step_args = launcher.per_node_args;
    else
      for (const auto& arg : rule->args) launcher.step_args.push_back(input.with_numbers(arg));
    launcher.rank_variable = rule->rank_variable;
    launcher.local_rank_variable = rule->local_rank_variable;
    launcher.world_size_variable = rule->world_size_variable;
  }
  if (!launcher.by_srun() && !input.job.srun.empty())
    diagnostics.error("request/srun",
                      fmt::format("--srun has no effect: {} starts programs with {}, not with srun",
                                  input.site.name, launcher.step),
                      fmt::format("remove --srun={}", input.job.srun.front().value));
  for (const auto& raw : input.job.srun) launcher.step_args.push_back(raw.value);
  return result;
}

/// What only hpcml launch does is not forgotten in silence where another launcher starts the ranks.
void check_requested(const RequestWithLayout& input, const LaunchPlan& launch,
                     PlanStepDiagnostics& diagnostics) {
  if (const auto fault = model::find_contradiction(input.job))
    diagnostics.error("request/store", fault->what, fault->hint);
  if (launch.launcher.choice.is_hpcml()) return;
  const auto& name = launch.launcher.choice.name();
  if (input.job.bind_check)
    diagnostics.error(
        "request/bind-check",
        fmt::format("--bind-check needs the launcher hpcml: {} does not check the binding of ranks", name),
        "remove --launcher, or run srun --jobid JOB --overlap hpcml affinity --verify in the running job");
  if (const auto options = model::options_for_agent(input.job); !options.empty())
    diagnostics.error(
        "request/agent",
        fmt::format("{} starts the ranks, but only the agent of hpcml supports {}", name, options),
        fmt::format("use --launcher hpcml, or remove {}", options));
  if (input.job.store || input.job.rendezvous_timeout || model::is_on(input.job.coordinator))
    diagnostics.error(
        "request/store",
        fmt::format("--store, --rendezvous-timeout and --jax-coordinator need the launcher hpcml, but "
                    "{} starts the ranks",
                    name),
        "remove --launcher, or --store, --rendezvous-timeout and --jax-coordinator");
}

/// Reports what the agent of hpcml does not support in this plan.
void check_own_agent(const RequestWithLayout& input, const model::PlannedLauncher& launcher,
                     PlanStepDiagnostics& diagnostics) {
  if (!launcher.has_own_agent()) return;
  const auto options = model::options_for_agent(input.job);
  if (launcher.least_nodes > 0 && !launcher.by_srun())
    diagnostics.error(
        "request/nnodes",
        fmt::format(
            "--nnodes cannot be used: {} starts programs with {}, which stops all of them if a node fails",
            input.site.name, launcher.step),
        "use --nodes N instead of --nnodes");
  for (const auto& raw : input.job.srun)
    if (raw.value.starts_with("--mpi=") && raw.value != "--mpi=none")
      diagnostics.error(
          "request/agent",
          fmt::format("--srun={} and {} exclude each other: either srun starts the ranks for MPI, or one "
                      "agent per node",
                      raw.value, options),
          fmt::format("remove {} for MPI programs, or --srun={} for others", options, raw.value));
}

/// Who binds, and why.
void choose_binder(const RequestWithLayout& input, LaunchPlan& launch) {
  model::PlannedBinding& binding = launch.binding;
  binding.origin = input.site.binding.origin;
  const bool masks = masks_are_valid(input, launch, binding.why);
  if (launch.launcher.choice.is_agent()) {
    binding.binder = model::Binder::agent;
    binding.why = "the one agent per node gets all cores of the job: what it starts inherits its mask";
  } else if (launch.launcher.has_own_agent()) {
    binding.binder = model::Binder::launch;
    binding.why = "the one agent per node gets all cores of the job, and binds each rank that it starts";
  } else if (masks) {
    binding.binder = model::Binder::srun_masks;
    binding.why = "the step has its nodes to itself and the profile knows where the GPUs are attached";
  } else {
    binding.binder = launch.launcher.choice.is_hpcml() ? model::Binder::launch : model::Binder::srun_cores;
  }
}

/// The masks of the ranks, where srun is to bind with them.
void plan_masks(const RequestWithLayout& input, LaunchPlan& launch, PlanStepDiagnostics& diagnostics) {
  auto& binding = launch.binding;
  const auto places = places_in_order(input, binding.order.value);
  auto affinity =
      topo::plan_affinity(input.node()->cpu, places,
                          make_affinity_request(input.numbers(), binding.idle_cores.value, places.size()));
  binding.ranks = std::move(affinity.ranks);
  for (const auto& warning : affinity.warnings) diagnostics.note(warning, binding.origin);
}

} // namespace

topo::AffinityRequest make_affinity_request(const model::PlannedLayout& numbers,
                                            model::IdleCorePolicy idle_cores, std::size_t gpus) {
  topo::AffinityRequest request;
  request.ranks = numbers.ranks_per_node;
  // Only where ranks share GPUs the affinity planner chooses those of a rank by itself.
  request.gpus_per_rank =
      std::size_t{numbers.ranks_per_node} * numbers.gpus_per_rank <= gpus ? numbers.gpus_per_rank : 0;
  request.cpus_per_rank = numbers.cpus_per_rank;
  request.threads_per_core = numbers.threads_per_core;
  request.idle_cores = idle_cores == model::IdleCorePolicy::package;
  return request;
}

PlanStepResult<LaunchPlan> plan_launch(const RequestWithLayout& input, bool refused) {
  PlanStepResult<LaunchPlan> result;
  auto& [launch, diagnostics] = result;
  launch.launcher = unwrap(plan_launcher(input), diagnostics);
  check_steps(input, launch.launcher, diagnostics);
  add(diagnostics, check_inner_launchers(input));
  check_colons(input, launch.launcher, diagnostics);
  plan_order(input, launch, diagnostics);
  check_requested(input, launch, diagnostics);
  check_own_agent(input, launch.launcher, diagnostics);
  add(diagnostics, check_spares(input, launch.launcher));
  launch.saving = unwrap(plan_saving(input, launch.launcher), diagnostics);
  launch.requeue = unwrap(plan_requeue(input, launch), diagnostics);
  choose_binder(input, launch);
  if (launch.binding.binder == model::Binder::srun_masks && !refused && !diagnostics.refuse())
    plan_masks(input, launch, diagnostics);
  return result;
}

} // namespace hpcml::plan
