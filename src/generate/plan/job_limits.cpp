// SPDX-License-Identifier: MIT
// What the site says to the job as a whole, and to its ranks.
#include "generate/plan/directives.hpp"

#include "generate/plan/site_violations.hpp"
#include <fmt/format.h>

namespace hpcml::plan {
namespace {

/// How many ranks may share a GPU, and what becomes of them on parts of GPUs.
void check_ranks(const RequestWithLayout& input, PlanStepDiagnostics& diagnostics) {
  const model::PlannedLayout& layout = input.numbers();
  const auto* node = input.node();
  const bool alone = node && node->gpu && node->gpu->compute_mode == model::ComputeMode::exclusive_process;
  if (layout.gpus_per_node == 0) return;
  if (alone && layout.ranks_per_node > layout.gpus_per_node)
    diagnostics.error(
        "request/tasks-per-node",
        fmt::format("{} ranks share {} on each node, but each GPU of {} accepts only one process "
                    "(compute mode EXCLUSIVE_PROCESS)",
                    layout.ranks_per_node, util::counted(layout.gpus_per_node, "GPU"), input.site.name),
        fmt::format("use at most --tasks-per-node {}", layout.gpus_per_node), node->origin);
  if (input.slice() && layout.nodes * layout.ranks_per_node > 1)
    diagnostics.warning(
        "request/gpu-type",
        fmt::format("{} ranks get MIG instances ({}), but NCCL cannot communicate between MIG "
                    "instances",
                    layout.nodes * layout.ranks_per_node, input.slice()->name),
        "use one rank (--nodes 1 --tasks-per-node 1), or --backend gloo");
}

} // namespace

PlanStepDiagnostics evaluate_job(const RequestWithSoftware& input, const Directives& directives) {
  PlanStepDiagnostics diagnostics;
  const SiteViolations violations(input, demand_of(input, directives.header));
  violations.report(diagnostics, site_rules::PlanningStep::job);
  check_ranks(input, diagnostics);
  violations.report(diagnostics, site_rules::PlanningStep::names);
  return diagnostics;
}

} // namespace hpcml::plan
