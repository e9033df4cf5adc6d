// SPDX-License-Identifier: MIT
#include "generate/plan/site_violations.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "core/site_rules/violation_text.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/text.hpp"
#include "generate/plan/layout.hpp"
#include "generate/plan/unknown_name.hpp"

namespace hpcml::plan {

namespace {

// What of a site would take a job as it is planned: partitions and QoS, as words for hints.

/// Returns a hint that names the partitions that a job can name and that suit it.
template <class Suits> std::string partitions_hint(const LayoutInput& input, Suits suits) {
  std::vector<std::string> names;
  for (const auto& partition : input.site.partitions)
    if (partition.nameable && suits(partition)) names.push_back(partition.name);
  return names.empty() ? "" : fmt::format("use a partition that allows this: {}", util::join(names, ", "));
}

/// Returns a hint that names the partitions with these nodes whose limits allow `have`.
std::string partitions_for(const LayoutInput& input, unsigned long long have,
                           model::Known<unsigned> model::Limits::*least,
                           model::Known<unsigned> model::Limits::*most) {
  return partitions_hint(input, [&](const model::Partition& partition) {
    const auto &low = partition.*least, &high = partition.*most;
    const bool same_nodes = input.node() && util::contains(partition.node_types, input.node()->id);
    return same_nodes && (!low || have >= low->value) && (!high || have <= high->value);
  });
}

/// Returns a hint that names the QoS whose known limits allow `have`.
std::string qos_for(const LayoutInput& input, unsigned long long have,
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
std::string partitions_with_nodes(const LayoutInput& input, unsigned long long nodes) {
  return partitions_hint(input, [&](const model::Partition& candidate) {
    return input.partition() && candidate.cpu_only == input.partition()->cpu_only &&
           (!candidate.max_nodes || candidate.max_nodes->value >= nodes);
  });
}

/// The partitions with such nodes that give the time.
std::string partitions_that_allow(const LayoutInput& input, model::Walltime time) {
  std::vector<std::string> names;
  const unsigned gpus = input.numbers().nodes_asked() * input.numbers().gpus_per_node;
  for (const auto& candidate : input.site.partitions) {
    const auto limit = site_rules::time_limit(candidate, input.numbers().nodes_asked(), gpus);
    const bool nodes_fit =
        !candidate.max_nodes || input.numbers().nodes_asked() <= candidate.max_nodes->value;
    const bool same_nodes =
        !input.node() || std::find(candidate.node_types.begin(), candidate.node_types.end(),
                                   input.node()->id) != candidate.node_types.end();
    if (candidate.nameable && nodes_fit && same_nodes && limit && time <= limit->value)
      names.push_back(candidate.name + " (" + limit->value.to_slurm() + ")");
  }
  return util::join(names, ", ");
}

/// The QoS that a job there could name instead, and that are long enough.
std::string qos_that_allow(const LayoutInput& input, model::Walltime time) {
  std::vector<std::string> names;
  for (const auto& candidate : input.site.qos) {
    const bool is_offered = !input.partition() || !input.partition()->nameable ||
                            site_rules::is_place_of(&candidate, input.partition()->name);
    const bool fits = (!candidate.max_nodes || input.numbers().nodes_asked() <= candidate.max_nodes->value) &&
                      (!candidate.max_gpus || input.numbers().nodes_asked() * input.numbers().gpus_per_node <=
                                                  candidate.max_gpus->value);
    if (is_offered && fits && !candidate.on_request && candidate.max_time &&
        time <= candidate.max_time->value)
      names.push_back(fmt::format("--qos {} ({})", candidate.name, candidate.max_time->value.to_slurm()));
  }
  return util::join(names, ", ");
}

/// The partitions that have a node with this many GPUs.
std::string partitions_with_gpus(const LayoutInput& input, unsigned long long gpus) {
  std::vector<std::string> names;
  for (const auto& partition : input.site.partitions) {
    const bool enough =
        std::any_of(partition.node_types.begin(), partition.node_types.end(), [&](const auto& id) {
          const auto* node = input.site.find_node_type(id);
          return node && node->gpu && node->gpu->per_node >= gpus;
        });
    if (partition.nameable && enough) names.push_back(partition.name);
  }
  return util::join(names, ", ");
}

using model::Limits;
using site_rules::PolicyViolation;
using site_rules::SiteRule;

/// What a finding has besides the sentence of its rule.
struct Wording {
  const char* code;
  std::string hint = {};
};

Wording words_of_nodes(const LayoutInput& input, const PolicyViolation& violation) {
  const char* const k_code = "request/nodes";
  if (violation.rule == SiteRule::nodes_not_connected) return {k_code, "request one node"};
  if (violation.rule != SiteRule::nodes_over || (input.qos() && input.qos()->max_nodes)) return {k_code};
  return {k_code, partitions_with_nodes(input, violation.have)};
}

/// More GPUs of a node than it has.
Wording words_of_room(const LayoutInput& input, const PolicyViolation& violation) {
  const auto others = partitions_with_gpus(input, violation.have);
  std::string hint;
  if (!others.empty())
    hint = fmt::format("use a partition with enough GPUs per node: {}", others);
  else if (violation.limit > 0)
    hint = fmt::format("request more nodes: --nodes {} --gpus-per-node {}",
                       (violation.have * std::max(1u, input.numbers().nodes) + violation.limit - 1) /
                           violation.limit,
                       violation.limit);
  return {"request/gpus-per-node", hint};
}

Wording words_of_gpus(const LayoutInput& input, const PolicyViolation& violation) {
  const char* const k_per_node = "request/gpus-per-node";
  switch (violation.rule) {
  case SiteRule::gpus_over:
    return {"request/gpus",
            input.qos() && input.qos()->max_gpus
                ? qos_for(input, violation.have, &Limits::max_gpus)
                : partitions_for(input, violation.have, &Limits::min_gpus, &Limits::max_gpus)};
  case SiteRule::gpus_under:
    return {"request/gpus", partitions_for(input, violation.have, &Limits::min_gpus, &Limits::max_gpus)};
  case SiteRule::gpus_missing: return {k_per_node, "set --gpus-per-node N"};
  case SiteRule::gpu_count_not_allowed:
  case SiteRule::gpus_multiple: return {k_per_node};
  case SiteRule::gpus_whole_nodes:
    return {k_per_node, fmt::format("use --gpus-per-node {}", violation.limit)};
  default: return words_of_room(input, violation);
  }
}

Wording words_of_cpus(const LayoutInput& input, const PolicyViolation& violation) {
  const char* const k_code = "request/cpus-per-task";
  const unsigned ranks = std::max(1u, input.numbers().ranks_per_node);
  if (violation.rule == SiteRule::cpu_share || violation.rule == SiteRule::cpus_many)
    return {k_code, fmt::format("use --cpus-per-task {}", std::max(1ULL, violation.limit / ranks))};
  const unsigned usable = site_rules::usable_cores(*violation.node);
  return {k_code, usable >= ranks ? fmt::format("use at most --cpus-per-task {}", usable / ranks)
                                  : fmt::format("use at most --tasks-per-node {}", usable)};
}

Wording words_of_memory(const LayoutInput& input, const PolicyViolation& violation) {
  const auto limit = model::MemSize::of_mib(violation.limit).to_slurm();
  if (violation.rule != SiteRule::memory_over)
    return {"request/mem", fmt::format("use --mem {}, or remove --mem", limit)};
  return {"request/mem", input.mem() ? fmt::format("use at most --mem {}", limit)
                                     : fmt::format("request at most {} per node", limit)};
}

Wording words_of_time(const LayoutInput& input, const PolicyViolation& violation) {
  const char* const k_code = "request/time";
  if (violation.rule == SiteRule::node_minutes)
    return {k_code, fmt::format("use at most --time {}, or fewer nodes",
                                violation.limit / std::max(1u, input.numbers().nodes_asked()))};
  if (violation.rule != SiteRule::time_over) return {k_code};
  const auto time = model::Walltime::of(std::chrono::seconds(violation.have));
  const bool by_qos = input.qos() && input.qos()->max_time;
  const auto others = by_qos ? qos_that_allow(input, time) : partitions_that_allow(input, time);
  if (others.empty()) return {k_code, "use a shorter time and save checkpoints"};
  return {k_code, by_qos ? fmt::format("use a shorter time or {}", others)
                         : fmt::format("use a shorter time or a partition that allows it: {}", others)};
}

Wording words_of_names(const LayoutInput& input, const PolicyViolation& violation) {
  switch (violation.rule) {
  case SiteRule::qos_unknown: {
    std::vector<std::string> names;
    for (const auto& known : input.site.qos) names.push_back(known.name);
    return {"request/qos", util::choice_hint(violation.name, names)};
  }
  case SiteRule::qos_elsewhere:
    return {"request/qos", fmt::format("use --partition {} or another QoS", input.qos()->partitions.front())};
  case SiteRule::constraint_operator:
    return {"request/constraint", fmt::format("remove the '{}'", violation.name)};
  default: return {"request/constraint", util::choice_hint(violation.name, input.site.constraints)};
  }
}

Wording words_of(const LayoutInput& input, const PolicyViolation& violation) {
  const auto id = site_rules::rule_id(violation.rule);
  if (id == "site/nodes") return words_of_nodes(input, violation);
  if (id == "site/memory" || violation.rule == SiteRule::memory_share)
    return words_of_memory(input, violation);
  if (id == "site/cpus-per-node" || id == "site/gpu-share") return words_of_cpus(input, violation);
  if (id == "site/time-limit-exceeded" || id == "site/time-limit-too-short")
    return words_of_time(input, violation);
  if (id == "site/qos-unknown" || id == "site/qos-fit" || id == "site/constraint")
    return words_of_names(input, violation);
  if (violation.rule == SiteRule::jobs_over) return {"request/array", job_count_hint(violation)};
  return words_of_gpus(input, violation);
}

/// True if the job may still be right: names that the profile lacks, and what the site only recommends.
bool is_warning(SiteRule rule) {
  return rule == SiteRule::partition_discouraged || rule == SiteRule::time_short ||
         rule == SiteRule::cpus_many || rule == SiteRule::qos_unknown || rule == SiteRule::feature_unknown ||
         rule == SiteRule::constraint_operator;
}

} // namespace

std::string job_count_hint(const PolicyViolation& violation) {
  return fmt::format("submit at most {}, and more when these have ended", violation.limit);
}

StepDiagnostics evaluate_named_partition(const Request& request, const site_rules::ResolvedPlacement& place) {
  StepDiagnostics diagnostics;
  const auto demand = site_rules::demand_of(request.job);
  for (const auto& violation : site_rules::evaluate_policy(request.site, place, demand)) {
    if (violation.rule == SiteRule::partition_unknown || violation.rule == SiteRule::partition_not_described)
      diagnostics.findings.push_back(describe_unknown_partition(request.site, violation));
    if (site_rules::rule_id(violation.rule) != "site/partition-named") continue;
    const auto what = site_rules::describe(violation, request.site, place, demand);
    if (is_warning(violation.rule))
      diagnostics.warning("request/partition", what, "remove --partition", violation.origin);
    else
      diagnostics.error("request/partition", what, "remove --partition", violation.origin);
  }
  return diagnostics;
}

site_rules::ResourceRequest demand_of(const LayoutInput& input,
                                      const std::vector<model::PlannedDirective>& directives) {
  auto demand = site_rules::demand_of(input.job);
  const model::PlannedLayout& layout = input.numbers();
  demand.nodes = layout.nodes_asked();
  demand.gpus_counted = input.gpus_per_node().has_value();
  demand.gpus_per_node = layout.gpus_per_node;
  demand.gpus_on_node = layout.gpus_per_node;
  demand.gpus_in_all = std::uint64_t{layout.nodes_asked()} * layout.gpus_per_node;
  demand.cpus_asked = input.cpus_per_task().has_value();
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

SiteViolations::SiteViolations(const LayoutInput& input, site_rules::ResourceRequest demand)
    : x_input(input), x_demand(std::move(demand)), x_place(input.placement.place) {
  x_place.facts = input.facts();
  x_violations = site_rules::evaluate_policy(input.site, x_place, x_demand);
}

void SiteViolations::report(StepDiagnostics& diagnostics, std::initializer_list<SiteRule> rules) const {
  for (const auto& violation : x_violations)
    if (std::find(rules.begin(), rules.end(), violation.rule) != rules.end())
      report_one(violation, diagnostics);
}

std::string SiteViolations::describe(const PolicyViolation& violation) const {
  return site_rules::describe(violation, x_input.site, x_place, x_demand);
}

void SiteViolations::report_one(const PolicyViolation& violation, StepDiagnostics& diagnostics) const {
  if (violation.rule == SiteRule::gpus_idle) return diagnostics.note(describe(violation), violation.origin);
  // If the profile has no rule for the share, more cores take nothing from other jobs.
  if (violation.rule == SiteRule::cpus_many && violation.node->share_policy == model::SharePolicy::none)
    return;
  const auto [code, hint] = words_of(x_input, violation);
  const auto what = describe(violation);
  const bool by_node = violation.rule == SiteRule::gpus_on_cpu_nodes && violation.node;
  const auto& origin = by_node ? violation.node->origin : violation.origin;
  if (violation.reservable || is_warning(violation.rule))
    diagnostics.warning(code, what, hint, origin);
  else
    diagnostics.error(code, what, hint, origin);
}

} // namespace hpcml::plan
