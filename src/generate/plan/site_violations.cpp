// SPDX-License-Identifier: MIT
#include "generate/plan/site_violations.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "core/site_rules/limits.hpp"
#include "core/site_rules/rule_hint.hpp"
#include "core/site_rules/violation_text.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/text.hpp"
#include "generate/plan/layout.hpp"
#include "generate/plan/unknown_name.hpp"

namespace hpcml::plan {

namespace {

// What of a site would take a job as it is planned: partitions and QoS, as words for hints.

/// Returns a hint that names the partitions that a job can name and that suit it.
template <class Suits> std::string partitions_hint(const RequestWithLayout& input, Suits suits) {
  std::vector<std::string> names;
  for (const auto& partition : input.site.partitions)
    if (partition.nameable && suits(partition)) names.push_back(partition.name);
  return names.empty() ? "" : fmt::format("use a partition that allows this: {}", util::join(names, ", "));
}

/// Returns a hint that names the partitions with these nodes whose limits allow `have`.
std::string partitions_for(const RequestWithLayout& input, unsigned long long have,
                           model::Known<unsigned> model::Limits::*least,
                           model::Known<unsigned> model::Limits::*most) {
  return partitions_hint(input, [&](const model::Partition& partition) {
    const auto &low = partition.*least, &high = partition.*most;
    const bool same_nodes = input.node() && util::contains(partition.node_types, input.node()->id);
    return same_nodes && (!low || have >= low->value) && (!high || have <= high->value);
  });
}

/// Returns a hint that names the QoS whose known limits allow `have`.
std::string qos_for(const RequestWithLayout& input, unsigned long long have,
                    model::Known<unsigned> model::Limits::*most) {
  std::vector<std::string> names;
  for (const auto& qos : input.site.qos)
    if (!qos.on_request && (!(qos.*most) || have <= (qos.*most)->value) &&
        (!input.partition() || !input.partition()->nameable ||
         site_rules::is_place_of(&qos, input.partition()->name)))
      names.push_back(fmt::format("--qos {}", qos.name));
  return names.empty() ? ""
                       : fmt::format("use a QoS whose known limits allow this: {}", util::join(names, ", "));
}

/// Returns a hint that names the partitions like the job's that allow this many nodes.
std::string partitions_with_nodes(const RequestWithLayout& input, unsigned long long nodes) {
  return partitions_hint(input, [&](const model::Partition& candidate) {
    return input.partition() && candidate.cpu_only == input.partition()->cpu_only &&
           (!candidate.max_nodes || candidate.max_nodes->value >= nodes);
  });
}

/// The QoS that a job there could name instead, and that are long enough.
std::string qos_that_allow(const RequestWithLayout& input, model::Walltime time) {
  std::vector<std::string> names;
  for (const auto& candidate : input.site.qos) {
    const bool is_offered = !input.partition() || !input.partition()->nameable ||
                            site_rules::is_place_of(&candidate, input.partition()->name);
    const bool fits =
        (!candidate.max_nodes || input.numbers().nodes_requested() <= candidate.max_nodes->value) &&
        (!candidate.max_gpus ||
         input.numbers().nodes_requested() * input.numbers().gpus_per_node <= candidate.max_gpus->value);
    if (is_offered && fits && !candidate.on_request && candidate.max_time &&
        time <= candidate.max_time->value)
      names.push_back(fmt::format("--qos {} ({})", candidate.name, candidate.max_time->value.to_slurm()));
  }
  return util::join(names, ", ");
}

using model::Limits;
using site_rules::PlanningStep;
using site_rules::PolicyViolation;
using site_rules::SiteRule;

std::string hint_for_time(const RequestWithLayout& input, const PolicyViolation& violation) {
  const auto time = model::Walltime::of(std::chrono::seconds(violation.have));
  const bool by_qos = input.qos() && input.qos()->max_time;
  const auto& numbers = input.numbers();
  const site_rules::TimedJob job{numbers.nodes_requested(), numbers.nodes_requested() * numbers.gpus_per_node,
                                 time};
  const auto others =
      by_qos ? qos_that_allow(input, time) : site_rules::partitions_that_allow(input.site, input.node(), job);
  if (others.empty()) return "use a shorter time and save checkpoints";
  return by_qos ? fmt::format("use a shorter time or {}", others)
                : fmt::format("use a shorter time or a partition that allows it: {}", others);
}

std::string hint_for_cpus(const RequestWithLayout& input, const PolicyViolation& violation) {
  const unsigned ranks = std::max(1u, input.numbers().ranks_per_node);
  const unsigned usable = site_rules::usable_cores(*violation.node);
  return usable >= ranks ? fmt::format("use at most --cpus-per-task {}", usable / ranks)
                         : fmt::format("use at most --tasks-per-node {}", usable);
}

/// Returns the hint of a rule that depends on what else the planner could choose; nothing for other rules.
std::optional<std::string> planned_hint(const RequestWithLayout& input, const PolicyViolation& violation) {
  switch (violation.rule) {
  case SiteRule::nodes_over:
    return input.qos() && input.qos()->max_nodes ? "" : partitions_with_nodes(input, violation.have);
  case SiteRule::gpus_over:
    if (input.qos() && input.qos()->max_gpus) return qos_for(input, violation.have, &Limits::max_gpus);
    [[fallthrough]];
  case SiteRule::gpus_under:
    return partitions_for(input, violation.have, &Limits::min_gpus, &Limits::max_gpus);
  case SiteRule::cpus_over:
  case SiteRule::cpus_reserved: return hint_for_cpus(input, violation);
  case SiteRule::cpu_share:
  case SiteRule::cpus_many:
    return fmt::format("use --cpus-per-task {}",
                       std::max(1ULL, violation.limit / std::max(1u, input.numbers().ranks_per_node)));
  case SiteRule::time_over: return hint_for_time(input, violation);
  default: return std::nullopt;
  }
}

/// Adds the finding with the code and the severity of the rule.
void add_finding(PlanStepDiagnostics& diagnostics, const PolicyViolation& violation,
                 const std::string& sentence, const std::string& hint) {
  const bool by_node = violation.rule == SiteRule::gpus_on_cpu_nodes && violation.node;
  const auto& origin = by_node ? violation.node->origin : violation.origin;
  const auto severity = site_rules::row_of(violation.rule).request_severity;
  if (severity == diag::Severity::note)
    diagnostics.note(sentence, origin);
  else if (violation.reservable || severity == diag::Severity::warning)
    diagnostics.warning(request_code(violation), sentence, hint, origin);
  else
    diagnostics.error(request_code(violation), sentence, hint, origin);
}

} // namespace

std::string request_code(const PolicyViolation& violation) {
  const auto code = site_rules::row_of(violation.rule).request_code;
  return std::string(code) + (code.back() == '/' ? violation.name : "");
}

PlanStepDiagnostics evaluate_named_partition(const Request& request,
                                             const site_rules::ResolvedPlacement& place) {
  PlanStepDiagnostics diagnostics;
  const auto demand = site_rules::demand_of(request.job);
  for (const auto& violation : site_rules::evaluate_policy(request.site, place, demand)) {
    if (violation.rule == SiteRule::partition_unknown || violation.rule == SiteRule::partition_not_described)
      diagnostics.findings.push_back(describe_unknown_partition(request.site, violation));
    else if (const auto& row = site_rules::row_of(violation.rule); row.step == PlanningStep::partition)
      add_finding(diagnostics, violation, site_rules::describe(violation, request.site, place, demand),
                  row.hint({violation, request.site, place, demand}, site_rules::OptionForm::request));
  }
  return diagnostics;
}

site_rules::ResourceRequest demand_of(const RequestWithLayout& input,
                                      const std::vector<model::PlannedDirective>& directives) {
  auto demand = site_rules::demand_of(input.job);
  const model::PlannedLayout& layout = input.numbers();
  demand.nodes = layout.nodes_requested();
  demand.spare_nodes = layout.spare_nodes;
  demand.gpus_counted = input.gpus_per_node().has_value();
  demand.gpus_per_node = layout.gpus_per_node;
  demand.gpus_on_node = layout.gpus_per_node;
  demand.gpus_in_all = std::uint64_t{layout.nodes_requested()} * layout.gpus_per_node;
  demand.cpus_requested = input.cpus_per_task().has_value();
  demand.cpus_per_node = demand.cpus_of_tasks = long{layout.ranks_per_node} * layout.cpus_per_rank;
  demand.threads_per_core = 1;
  if (const auto& memory = input.mem()) {
    demand.mem = memory->value;
    demand.memory_mib = memory->value.mib();
  }
  demand.launcher = input.request.launcher.name();
  if (!demand.time)
    if (const auto usual = model::Walltime::parse(input.flag("time").default_value)) demand.time = *usual;
  if (input.job.array) demand.array_tasks = slurm::count_array_tasks(input.job.array->value);
  for (const auto& directive : directives) {
    demand.options[directive.name.substr(2)] = directive.value.value_or("");
    if (directive.name == "--exclusive") demand.exclusive = true;
    if (directive.name == "--constraint") demand.constraint = directive.value.value_or("");
  }
  demand.features = site_rules::feature_names(demand.constraint);
  return demand;
}

SiteViolations::SiteViolations(const RequestWithLayout& input, site_rules::ResourceRequest demand)
    : x_input(input), x_demand(std::move(demand)), x_place(input.placement.place) {
  x_place.facts = input.facts();
  x_violations = site_rules::evaluate_policy(input.site, x_place, x_demand);
}

void SiteViolations::report(PlanStepDiagnostics& diagnostics, PlanningStep step) const {
  for (const auto& violation : x_violations)
    if (site_rules::row_of(violation.rule).step == step) report_one(violation, diagnostics);
}

std::string SiteViolations::describe(const PolicyViolation& violation) const {
  return site_rules::describe(violation, x_input.site, x_place, x_demand);
}

std::string SiteViolations::hint(const PolicyViolation& violation) const {
  if (auto hint = planned_hint(x_input, violation)) return *hint;
  return site_rules::row_of(violation.rule)
      .hint({violation, x_input.site, x_place, x_demand}, site_rules::OptionForm::request);
}

void SiteViolations::report_one(const PolicyViolation& violation, PlanStepDiagnostics& diagnostics) const {
  // If the profile has no rule for the share, more cores take nothing from other jobs.
  if (violation.rule == SiteRule::cpus_many && violation.node->share_policy == model::CpusPerGpuPolicy::none)
    return;
  add_finding(diagnostics, violation, describe(violation), hint(violation));
}

} // namespace hpcml::plan
