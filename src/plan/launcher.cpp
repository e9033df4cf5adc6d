// SPDX-License-Identifier: MIT
// What starts the ranks, and who binds them to cores.
#include <algorithm>

#include "plan/plan_context.hpp"
#include "topo/affinity.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

const std::vector<std::string> k_launchers = {"hpcml", "torchrun",   "srun",
                                              "ibrun", "accelerate", "deepspeed"};

/// DeepSpeed is none: it reads the ranks from the environment, and its own launcher would want ssh.
bool is_agent(const std::string& kind) { return kind == "torchrun" || kind == "accelerate"; }

const model::LauncherRule* find_rule(const PlanContext& context, const std::string& name) {
  for (const auto& rule : context.site.launchers)
    if (rule.name == name && applies(rule.when, context.facts())) return &rule;
  return nullptr;
}

/// The site's choice among those that hold for the job, else the first of them.
const model::LauncherRule* default_rule(const PlanContext& context) {
  const model::LauncherRule* chosen = nullptr;
  for (const auto& rule : context.site.launchers)
    if (applies(rule.when, context.facts()) && (!chosen || (rule.is_default && !chosen->is_default))) chosen = &rule;
  return chosen;
}

bool masks_are_valid(const PlanContext& context, std::string& why) {
  const model::Plan& plan = context.plan;
  const bool full_node =
      context.node && (plan.layout.gpus_per_node == 0 ||
                       (context.node->gpu && context.node->gpu->per_node == plan.layout.gpus_per_node));
  if (context.site.binding.value != "masks")
    why = "the profile does not vouch for CPU masks";
  else if (plan.launcher.step != "srun")
    why = plan.launcher.step + " takes no CPU masks";
  else if (!context.owns_nodes())
    why = "nodes may be shared, so the job's cores are known only when it runs";
  else if (!context.node || context.node->cpu.core_threads.empty())
    why = "the profile does not know the node's cores";
  else if (!full_node)
    why = "with fewer GPUs than the node has, their numbers are known only when the job runs";
  else if (plan.layout.gpus_per_node > 0 && context.node->gpu->places.empty())
    why = "the profile does not know where the GPUs are attached";
  else
    return true;
  return false;
}

} // namespace

void plan_launcher(PlanContext& context) {
  model::PlannedLauncher& launcher = context.plan.launcher;
  launcher.kind = context.job.launcher ? context.job.launcher->value : "hpcml";
  launcher.origin = context.job.launcher ? context.job.launcher->origin
                                         : by_rule("hpcml launches where nothing else is asked for");
  const model::LauncherRule* site_rule = default_rule(context);
  launcher.step = site_rule ? site_rule->name : "srun";
  const bool listed = std::find(k_launchers.begin(), k_launchers.end(), launcher.kind) != k_launchers.end();
  const bool is_step = launcher.kind == "srun" || launcher.kind == "ibrun" || (!listed && find_rule(context, launcher.kind));
  if (!listed && !is_step) {
    const auto near = util::nearest(launcher.kind, k_launchers);
    context.error("usage/launcher", "unknown launcher '" + launcher.kind + "'",
                  (near ? "did you mean " + *near + "? " : std::string()) +
                      "launchers: " + util::join(k_launchers, ", "));
  }
  if (is_step) {
    launcher.step = launcher.kind;
    const bool known =
        find_rule(context, launcher.kind) || (launcher.kind == "srun" && context.site.launchers.empty());
    if (!known)
      context.error("request/launcher", context.site.name + " does not start programs with " + launcher.kind,
                    "its own launcher is " +
                        (site_rule ? site_rule->name + ": leave --launcher out" : std::string("srun")));
  }
  if (is_agent(launcher.kind)) context.plan.layout.tasks_per_node = 1;
  if (const auto* rule = find_rule(context, launcher.step)) {
    for (const auto& arg : rule->per_node_args) launcher.per_node_args.push_back(with_job_numbers(context, arg));
    if (is_agent(launcher.kind) && !launcher.per_node_args.empty())
      launcher.step_args = launcher.per_node_args;
    else
      for (const auto& arg : rule->args) launcher.step_args.push_back(with_job_numbers(context, arg));
    launcher.rank_variable = rule->rank_variable;
    launcher.local_rank_variable = rule->local_rank_variable;
    launcher.world_size_variable = rule->world_size_variable;
  }
  if (launcher.step != "srun" && !context.job.srun.empty())
    context.error("request/srun",
                  context.site.name + " starts programs with " + launcher.step +
                      ": srun's options have nobody to go to",
                  "leave --srun=" + context.job.srun.front().value + " out");
  for (const auto& raw : context.job.srun) launcher.step_args.push_back(raw.value);
}

void plan_binding(PlanContext& context) {
  model::Plan& plan = context.plan;
  model::PlannedBinding& binding = plan.binding;
  const std::string& kind = plan.launcher.kind;
  std::string why;
  const bool masks = masks_are_valid(context, why);
  binding.origin = context.site.binding.origin;
  if (is_agent(kind)) {
    binding.binder = model::Binder::agent;
    binding.why = "the one agent per node gets all cores of the job: what it starts inherits its mask";
  } else if (masks && (kind == "hpcml" || kind == "srun" || kind == "deepspeed")) {
    binding.binder = model::Binder::srun_masks;
    binding.why = "the step owns its nodes and the profile knows where the GPUs are attached";
  } else if (kind == "hpcml") {
    binding.binder = model::Binder::launch;
    binding.why = why;
  } else {
    binding.binder = model::Binder::srun_cores;
    binding.why = why;
  }
  if (binding.binder != model::Binder::srun_masks || diag::has_errors(context.findings)) return;

  topo::AffinityRequest request;
  request.ranks = plan.layout.ranks_per_node;
  request.gpus_per_rank = plan.layout.gpus_per_rank;
  request.cpus_per_rank = plan.layout.cpus_per_rank;
  request.threads_per_core = plan.layout.threads_per_core;
  const std::vector<model::GpuPlace> none;
  const auto& places = plan.layout.gpus_per_node > 0 ? context.node->gpu->places : none;
  // More ranks than GPUs share them: only then the planner chooses the GPUs of a rank by itself.
  if (request.ranks * request.gpus_per_rank > places.size()) request.gpus_per_rank = 0;
  topo::AffinityPlan affinity = topo::plan_affinity(context.node->cpu, places, request);
  binding.ranks = std::move(affinity.ranks);
  for (const auto& warning : affinity.warnings) context.note(warning, binding.origin);
}

} // namespace hpcml::plan
