// SPDX-License-Identifier: MIT
// How many nodes, GPUs, ranks and cores.
#include <algorithm>

#include "plan/site_verdicts.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

void plan_nodes(PlanContext& context) {
  const unsigned nodes = context.job.nodes ? context.job.nodes->value : 1;
  context.plan.layout.nodes = nodes;
  if (nodes == 0) context.error("usage/nodes", "--nodes 0: a job needs at least one node");
  say_verdicts(context, {site::Rule::nodes_over});
}

/// The GPUs of a node that nobody has counted: one for each task that is counted, where the site gives parts
/// of nodes; else all, unless that is more than a job may have. Parts of several nodes nobody means.
unsigned usual_gpus(PlanContext& context) {
  const auto& job = context.job;
  const unsigned have = context.node()->gpu ? context.node()->gpu->per_node : 0;
  const unsigned nodes = context.plan.layout.nodes;
  if (have == 0) return 0;
  unsigned gpus = have;
  const auto& most = context.limit(&model::Limits::max_gpus);
  if (most && nodes == 1) gpus = std::min(gpus, most->value);
  if (context.owns_nodes()) return gpus;
  if (job.tasks_per_node) {
    const unsigned wanted = job.tasks_per_node->value * (job.gpus_per_task ? job.gpus_per_task->value : 1);
    const bool taken = wanted < gpus && wanted > 0 &&
                       site::gpu_count_faults(context.gpu_request(), nodes, wanted, have).empty();
    if (taken) gpus = wanted;
  }
  context.findings.push_back(
      {diag::Severity::note,
       "request/gpus-per-node",
       (gpus == have ? "all " : "") + std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") +
           " of each node" + (job.tasks_per_node && gpus < have ? ", one per rank" : "") +
           ": the request does not count them",
       {},
       "--gpus-per-node N for another number" +
           std::string(context.gpu_request().must_request ? "" : ", 0 for a job without GPUs")});
  return gpus;
}

void plan_gpus(PlanContext& context) {
  unsigned gpus = 0;
  if (context.job.gpus_per_node) {
    gpus = context.job.gpus_per_node->value;
  } else if (context.node()) {
    gpus = usual_gpus(context);
  } else if (context.site.node_types.empty() || (context.partition() && !context.partition()->cpu_only)) {
    context.error("usage/gpus-per-node",
                  "the profile of " + context.site.name + " does not say how many GPUs a node" +
                      (context.partition() ? " of partition " + context.partition()->name : "") + " has",
                  "say --gpus-per-node N (0 for a job without GPUs)");
  }
  context.plan.layout.gpus_per_node = gpus;
  context.plan.layout.gpus_held = context.owns_nodes() && context.node() && context.node()->gpu
                                      ? std::max(gpus, context.node()->gpu->per_node)
                                      : gpus;
  say_verdicts(context, {site::Rule::gpus_on_cpu_nodes, site::Rule::gpus_of_node, site::Rule::gpus_idle});
}

/// More ranks than GPUs: NCCL refuses two on one GPU, and a program that takes GPU number LOCAL_RANK finds
/// none.
void say_shared_gpus(PlanContext& context) {
  const model::PlannedLayout& layout = context.plan.layout;
  const auto& backend = context.job.backend;
  const auto what = std::to_string(layout.ranks_per_node) + " ranks share " +
                    std::to_string(layout.gpus_per_node) + (layout.gpus_per_node == 1 ? " GPU" : " GPUs");
  if (backend && backend->value == model::Backend::gloo)
    return context.note(what + "; NCCL refuses two ranks on one GPU", context.job.tasks_per_node->origin);
  const auto hint = "say --tasks-per-node " + std::to_string(layout.gpus_per_node) +
                    ", one rank per GPU; ranks that share GPUs on purpose: --backend gloo";
  const auto why = what + " of a node: NCCL refuses two ranks on one GPU, and GPU number LOCAL_RANK is not "
                          "there for each rank";
  if (backend && backend->value == model::Backend::nccl)
    context.error("request/tasks-per-node", why, hint);
  else
    context.warning("request/tasks-per-node", why, hint);
}

void plan_ranks(PlanContext& context) {
  model::PlannedLayout& layout = context.plan.layout;
  const unsigned gpus = layout.gpus_per_node;
  const unsigned per_rank = context.job.gpus_per_task ? context.job.gpus_per_task->value : 0;
  if (per_rank > gpus)
    context.error("request/gpus-per-task",
                  std::to_string(per_rank) + " GPUs per rank, but " + std::to_string(gpus) + " per node",
                  "a rank lives on one node: ask for fewer GPUs per rank, or more per node");
  if (context.job.tasks_per_node) {
    layout.ranks_per_node = context.job.tasks_per_node->value;
  } else {
    layout.ranks_per_node = gpus == 0 ? 1 : std::max(1u, gpus / std::max(1u, per_rank));
  }
  if (layout.ranks_per_node == 0) {
    context.error("usage/tasks-per-node", "--tasks-per-node 0: a node needs at least one rank");
    layout.ranks_per_node = 1;
  }
  layout.gpus_per_rank = per_rank ? per_rank : gpus == 0 ? 0 : std::max(1u, gpus / layout.ranks_per_node);
  if (per_rank > 0 && per_rank <= gpus && layout.ranks_per_node * per_rank > gpus)
    context.error("request/gpus-per-task", std::to_string(layout.ranks_per_node) + " ranks with " +
                                               std::to_string(per_rank) + " GPUs each need " +
                                               std::to_string(layout.ranks_per_node * per_rank) +
                                               " GPUs per node, not " + std::to_string(gpus));
  if (gpus > 0 && layout.ranks_per_node > gpus && per_rank == 0)
    say_shared_gpus(context);
  else if (gpus > layout.ranks_per_node * layout.gpus_per_rank)
    context.note(std::to_string(gpus - layout.ranks_per_node * layout.gpus_per_rank) +
                     " GPUs of each node have no rank",
                 by_rule("ranks take equal numbers of GPUs"));
}

/// The cores that a rank gets when nobody says: the site's share per GPU, else an equal part of the node; 0
/// where the site does not say what a node has.
unsigned default_cores(const PlanContext& context) {
  const model::PlannedLayout& layout = context.plan.layout;
  if (!context.node()) return 0;
  const model::NodeType& node = *context.node();
  if (node.cpu.cores == 0) // the share of a GPU may be known where the whole is not
    return node.cpus_per_gpu && layout.gpus_per_node > 0
               ? std::max(1u, *node.cpus_per_gpu * layout.gpus_per_node / layout.ranks_per_node)
               : 0;
  const unsigned fair = std::max(1u, site::usable_cores(node) / layout.ranks_per_node);
  if (layout.gpus_per_node == 0) return context.owns_nodes() ? fair : 1;
  if (node.cpus_per_gpu)
    return std::max(1u, std::min(fair, *node.cpus_per_gpu * layout.gpus_per_node / layout.ranks_per_node));
  if (!node.gpu || node.gpu->per_node == 0) return fair;
  return std::max(1u, std::min(fair, site::usable_cores(node) * layout.gpus_per_node /
                                         (node.gpu->per_node * layout.ranks_per_node)));
}

/// Hardware threads as asked for. More than the profile shows is a warning only: where it says nothing of
/// them, it shows one.
void plan_hardware_threads(PlanContext& context) {
  auto& asked = context.job.threads_per_core;
  const model::FlagRule& rule = context.flag("threads-per-core");
  if (const auto usual = util::parse_unsigned(rule.default_value); usual && !asked) {
    asked = model::Sourced<unsigned>{static_cast<unsigned>(*usual), rule.origin};
    context.note(rule.default_value + " hardware threads of each core" +
                     (rule.why.empty() ? "" : ": " + rule.why),
                 rule.origin);
  }
  if (!asked) return;
  if (asked->value == 0)
    return context.error("usage/threads-per-core",
                         "--threads-per-core 0: a core has at least one hardware thread");
  context.plan.layout.threads_per_core = asked->value;
  if (!context.node() || asked->value <= context.node()->cpu.threads_per_core) return;
  context.warning("request/threads-per-core",
                  std::to_string(asked->value) + " hardware threads of each core: the profile of " +
                      context.site.name + " shows " + std::to_string(context.node()->cpu.threads_per_core) +
                      " on node type " + context.node()->id + site::cited(context.node()->origin),
                  "where the nodes show no more, Slurm refuses the job: leave --threads-per-core out");
}

} // namespace

void plan_layout(PlanContext& context) {
  plan_nodes(context);
  plan_gpus(context);
  plan_ranks(context);
  model::PlannedLayout& layout = context.plan.layout;
  layout.tasks_per_node = layout.ranks_per_node;
  layout.cpus_per_rank =
      context.job.cpus_per_task ? context.job.cpus_per_task->value : default_cores(context);
  if (context.job.cpus_per_task && layout.cpus_per_rank == 0)
    context.error("usage/cpus-per-task", "--cpus-per-task 0: a rank needs at least one core");
  using site::Rule;
  say_verdicts(context, {Rule::cpus_over, Rule::cpus_reserved, Rule::cpu_share, Rule::cpus_many});
  plan_hardware_threads(context);
}

} // namespace hpcml::plan
