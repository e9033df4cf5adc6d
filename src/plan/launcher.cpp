// SPDX-License-Identifier: MIT
// What starts the ranks, and who binds them to cores.
#include <algorithm>

#include "plan/plan_context.hpp"
#include "topo/gpu_order.hpp"

namespace hpcml::plan {
namespace {

const model::LauncherRule* find_rule(const PlanContext& context, const std::string& name) {
  for (const auto& rule : context.site.launchers)
    if (rule.name == name && site::applies(rule.when, context.facts())) return &rule;
  return nullptr;
}

/// The site's choice among those that hold for the job, else the first of them.
const model::LauncherRule* default_rule(const PlanContext& context) {
  const model::LauncherRule* chosen = nullptr;
  for (const auto& rule : context.site.launchers)
    if (site::applies(rule.when, context.facts()) && (!chosen || (rule.is_default && !chosen->is_default)))
      chosen = &rule;
  return chosen;
}

bool masks_are_valid(const PlanContext& context, std::string& why) {
  const model::Plan& plan = context.plan;
  const bool full_node =
      context.node() && (plan.layout.gpus_per_node == 0 ||
                         (context.node()->gpu && context.node()->gpu->per_node == plan.layout.gpus_per_node));
  if (context.site.binding.value != model::NodeBinding::masks)
    why = "the profile does not vouch for CPU masks";
  else if (!plan.launcher.by_srun())
    why = plan.launcher.step + " takes no CPU masks";
  else if (!context.owns_nodes())
    why = "nodes may be shared, so the job's cores are known only when it runs";
  else if (!context.node() || context.node()->cpu.core_threads.empty())
    why = "the profile does not know the node's cores";
  else if (!full_node)
    why = "with fewer GPUs than the node has, their numbers are known only when the job runs";
  else if (plan.layout.gpus_per_node > 0 && context.node()->gpu->places.empty())
    why = "the profile does not know where the GPUs are attached";
  else if (plan.layout.threads_per_core > context.node()->cpu.threads_per_core)
    why = "the profile does not know that many hardware threads of a core";
  else if (plan.binding.order.value.kind == model::RankOrder::ring)
    why = "which GPUs are linked is known only when the job runs";
  else
    return true;
  return false;
}

/// Which cores and which GPUs first: as asked for, where somebody is there to do it.
void plan_placement(PlanContext& context) {
  const model::JobSpec& job = context.job;
  model::PlannedBinding& binding = context.plan.binding;
  const auto& launcher = context.plan.launcher.choice;
  if (job.spill) binding.spill = *job.spill;
  if (binding.spill.value != model::CoreSpill::none && !launcher.is_hpcml())
    context.error("request/spill",
                  "with " + launcher.name() + " nobody deals out the cores of NUMA nodes without GPUs",
                  "leave --spill or --launcher out");
  if (!job.rank_order || job.rank_order->value.kind == model::RankOrder::gpu) return;
  binding.order = *job.rank_order;
  const unsigned gpus = context.plan.layout.gpus_per_node;
  if (gpus == 0)
    return context.note("no GPUs: there is no order in which ranks take them", binding.order.origin);
  if (!launcher.is_hpcml())
    context.error("request/rank-order",
                  "with " + launcher.name() + " nobody puts the GPUs into the order " +
                      binding.order.value.text(),
                  "leave --rank-order or --launcher out");
  else if (context.gpus_by_task())
    context.error("request/rank-order",
                  context.site.name + " gives each task its own GPUs" +
                      site::cited(context.gpu_request().origin) + ": no rank sees another's",
                  "leave --rank-order out");
  if (binding.order.value.kind != model::RankOrder::list) return;
  std::vector<topo::GpuInOrder> numbers(gpus);
  for (unsigned gpu = 0; gpu < gpus; ++gpu) numbers[gpu].index = gpu;
  const auto order = topo::find_rank_order(numbers, {}, binding.order.value);
  const std::size_t needed =
      std::size_t{context.plan.layout.ranks_per_node} * context.plan.layout.gpus_per_rank;
  if (!order)
    context.error("request/rank-order", order.error().what, order.error().hint);
  else if (order->size() < std::min<std::size_t>(needed, gpus))
    context.error("request/rank-order",
                  "--rank-order names " + std::to_string(order->size()) + " GPUs, the ranks of a node take " +
                      std::to_string(needed),
                  "name each GPU that a rank takes");
}

/// The node's GPUs as the ranks take them. An order by CPUs becomes a list: launch has to do what the masks
/// say.
std::vector<model::GpuPlace> places_in_order(PlanContext& context) {
  if (context.plan.layout.gpus_per_node == 0) return {};
  const auto& places = context.node()->gpu->places;
  model::GpuOrder& order = context.plan.binding.order.value;
  if (order.kind == model::RankOrder::gpu) return places;
  std::vector<topo::GpuInOrder> numbers;
  for (std::size_t i = 0; i < places.size(); ++i)
    numbers.push_back(
        {static_cast<unsigned>(i), topo::lowest_cpu(context.node()->cpu, places[i]).value_or(0)});
  const auto positions = topo::find_rank_order(numbers, {}, order);
  if (!positions) return places; // said by plan_placement
  std::vector<model::GpuPlace> ordered;
  order = {model::RankOrder::list, {}};
  for (const auto position : *positions) {
    ordered.push_back(places[position]);
    order.list.push_back(static_cast<unsigned>(position));
  }
  return ordered;
}

} // namespace

void plan_launcher(PlanContext& context) {
  model::PlannedLauncher& launcher = context.plan.launcher;
  launcher.origin = context.job.launcher ? context.job.launcher->origin
                                         : by_rule("hpcml launches where nothing else is asked for");
  const model::LauncherRule* site_rule = default_rule(context);
  launcher.step = site_rule ? site_rule->name : "srun";
  if (launcher.choice.kind() == model::LauncherKind::tasks) {
    launcher.step = launcher.choice.name();
    const bool known =
        find_rule(context, launcher.step) || (launcher.by_srun() && context.site.launchers.empty());
    if (!known)
      context.error("request/launcher",
                    "the profile of " + context.site.name + " does not start programs with " + launcher.step,
                    "its own launcher is " +
                        (site_rule ? site_rule->name + ": leave --launcher out" : std::string("srun")));
  }
  if (launcher.choice.is_agent()) context.plan.layout.tasks_per_node = 1;
  if (const auto* rule = find_rule(context, launcher.step)) {
    for (const auto& arg : rule->per_node_args)
      launcher.per_node_args.push_back(with_job_numbers(context, arg));
    if (launcher.choice.is_agent() && !launcher.per_node_args.empty())
      launcher.step_args = launcher.per_node_args;
    else
      for (const auto& arg : rule->args) launcher.step_args.push_back(with_job_numbers(context, arg));
    launcher.rank_variable = rule->rank_variable;
    launcher.local_rank_variable = rule->local_rank_variable;
    launcher.world_size_variable = rule->world_size_variable;
  }
  if (!launcher.by_srun() && !context.job.srun.empty())
    context.error("request/srun",
                  context.site.name + " starts programs with " + launcher.step +
                      ": srun's options have nobody to go to",
                  "leave --srun=" + context.job.srun.front().value + " out");
  for (const auto& raw : context.job.srun) launcher.step_args.push_back(raw.value);
}

topo::AffinityRequest make_affinity_request(unsigned ranks, unsigned gpus_per_rank, unsigned cpus_per_rank,
                                            std::size_t gpus) {
  topo::AffinityRequest request;
  request.ranks = ranks;
  // Only where ranks share GPUs the affinity planner chooses those of a rank by itself.
  request.gpus_per_rank = std::size_t{ranks} * gpus_per_rank <= gpus ? gpus_per_rank : 0;
  request.cpus_per_rank = cpus_per_rank;
  return request;
}

void plan_binding(PlanContext& context) {
  model::Plan& plan = context.plan;
  model::PlannedBinding& binding = plan.binding;
  std::string why;
  plan_placement(context);
  const bool masks = masks_are_valid(context, why);
  binding.origin = context.site.binding.origin;
  if (const auto& check = context.job.bind_check) {
    plan.bind_check = *check;
    if (!plan.launcher.choice.is_hpcml())
      context.error(
          "request/bind-check",
          "with " + plan.launcher.choice.name() + " nobody looks at what the ranks have before they start",
          "leave --launcher out; in a running job: srun --jobid JOB --overlap hpcml affinity --verify");
  }
  if (plan.launcher.choice.is_agent()) {
    binding.binder = model::Binder::agent;
    binding.why = "the one agent per node gets all cores of the job: what it starts inherits its mask";
  } else if (masks) {
    binding.binder = model::Binder::srun_masks;
    binding.why = "the step owns its nodes and the profile knows where the GPUs are attached";
  } else if (plan.launcher.choice.is_hpcml()) {
    binding.binder = model::Binder::launch;
    binding.why = why;
  } else {
    binding.binder = model::Binder::srun_cores;
    binding.why = why;
  }
  if (binding.binder != model::Binder::srun_masks || diag::has_errors(context.findings)) return;

  const auto places = places_in_order(context);
  auto request = make_affinity_request(plan.layout.ranks_per_node, plan.layout.gpus_per_rank,
                                       plan.layout.cpus_per_rank, places.size());
  request.threads_per_core = plan.layout.threads_per_core;
  request.spill = binding.spill.value == model::CoreSpill::package;
  topo::AffinityPlan affinity = topo::plan_affinity(context.node()->cpu, places, request);
  binding.ranks = std::move(affinity.ranks);
  for (const auto& warning : affinity.warnings) context.note(warning, binding.origin);
}

} // namespace hpcml::plan
