// SPDX-License-Identifier: MIT
// What the site says to the job as a whole, and to its ranks.
#include "plan/site_verdicts.hpp"

namespace hpcml::plan {
namespace {

/// How many ranks may share a GPU, and what becomes of them on parts of GPUs.
void check_ranks(PlanContext& context) {
  const model::PlannedLayout& layout = context.plan.layout;
  const auto* node = context.node();
  const bool alone = node && node->gpu && node->gpu->compute_mode == model::ComputeMode::exclusive_process;
  if (layout.gpus_per_node == 0) return;
  if (alone && layout.ranks_per_node > layout.gpus_per_node)
    context.error("request/tasks-per-node",
                  std::to_string(layout.ranks_per_node) + " ranks share " +
                      std::to_string(layout.gpus_per_node) + " GPUs, and a GPU of " + context.site.name +
                      " takes one process" + site::cited(node->origin),
                  "at most --tasks-per-node " + std::to_string(layout.gpus_per_node));
  if (context.slice() && layout.nodes * layout.ranks_per_node > 1)
    context.warning("request/gpu-type", "ranks on parts of GPUs cannot talk through NCCL",
                    "one rank, or --backend gloo");
}

} // namespace

void check_job_limits(PlanContext& context) {
  using site::Rule;
  say_verdicts(context, {Rule::nodes_under});
  say_verdicts(context, {Rule::gpus_over, Rule::gpus_under});
  say_verdicts(context, {Rule::nodes_of_partition, Rule::nodes_of_kind});
  say_verdicts(context, {Rule::nodes_of_user});
  say_verdicts(context, {Rule::jobs_over});
  say_verdicts(context, {Rule::nodes_apart});
  say_verdicts(context, {Rule::node_minutes, Rule::time_short});
  say_verdicts(context, {Rule::gpus_missing, Rule::gpus_listed, Rule::gpus_whole_nodes, Rule::gpus_multiple});
  check_ranks(context);
  say_verdicts(context, {Rule::memory_share});
  say_verdicts(context, {Rule::qos_unknown, Rule::qos_elsewhere, Rule::feature_unknown, Rule::feature_sign});
}

} // namespace hpcml::plan
