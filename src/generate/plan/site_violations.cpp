// SPDX-License-Identifier: MIT
#include "generate/plan/site_violations.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "core/slurm/submission.hpp"
#include "core/util/text.hpp"
#include "generate/plan/layout.hpp"
#include "generate/plan/unknown_name.hpp"

namespace hpcml::plan {

namespace {

// What of a site would take a job as it is planned: partitions and QoS, as words for hints.

/// The partitions with such nodes that take so many, as a hint.
std::string partitions_for(const LayoutInput& input, unsigned long long have,
                           model::Known<unsigned> model::Limits::*least,
                           model::Known<unsigned> model::Limits::*most) {
  std::vector<std::string> names;
  for (const auto& partition : input.site.partitions) {
    const auto &low = partition.*least, &high = partition.*most;
    const bool same_nodes =
        input.node() && std::find(partition.node_types.begin(), partition.node_types.end(),
                                  input.node()->id) != partition.node_types.end();
    if (partition.nameable && same_nodes && (!low || have >= low->value) && (!high || have <= high->value))
      names.push_back(partition.name);
  }
  return names.empty() ? "" : "these take so many: " + util::join(names, ", ");
}

/// The QoS that take so many, as a hint.
std::string qos_for(const LayoutInput& input, unsigned long long have,
                    model::Known<unsigned> model::Limits::*most) {
  std::vector<std::string> names;
  for (const auto& qos : input.site.qos)
    if (!qos.on_request && (!(qos.*most) || have <= (qos.*most)->value) &&
        (!input.partition() || !input.partition()->nameable ||
         site_rules::is_place_of(&qos, input.partition()->name)))
      names.push_back("--qos " + qos.name);
  return names.empty() ? ""
                       : "these take so many, for all that the profile knows: " + util::join(names, ", ");
}

/// The partitions like the job's that take so many nodes.
std::string partitions_with_nodes(const LayoutInput& input, unsigned long long nodes) {
  std::vector<std::string> names;
  for (const auto& candidate : input.site.partitions)
    if (candidate.nameable && input.partition() && candidate.cpu_only == input.partition()->cpu_only &&
        (!candidate.max_nodes || candidate.max_nodes->value >= nodes))
      names.push_back(candidate.name);
  return util::join(names, ", ");
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
      names.push_back("--qos " + candidate.name + " (" + candidate.max_time->value.to_slurm() + ")");
  }
  return util::join(names, ", ");
}

/// The partitions that have a node with so many GPUs.
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

/// What a finding says: the limit's own document is cited behind `what`.
struct Wording {
  const char* code;
  std::string what;
  std::string hint = {};
};

std::string time_text(unsigned long long seconds) {
  return model::Walltime::of(std::chrono::seconds(seconds)).to_slurm();
}

std::string memory_text(unsigned long long mib) { return model::MemSize::of_mib(mib).to_slurm(); }

Wording words_of_nodes(const LayoutInput& input, const PolicyViolation& violation) {
  const char* const k_code = "request/nodes";
  const auto limit = std::to_string(violation.limit);
  const auto nodes = std::to_string(violation.have) + " nodes: ";
  switch (violation.rule) {
  case SiteRule::nodes_over: {
    const auto others =
        input.qos() && input.qos()->max_nodes ? std::string() : partitions_with_nodes(input, violation.have);
    return {k_code, nodes + violation.owner + " allows " + limit,
            others.empty() ? "" : "these partitions allow as many: " + others};
  }
  case SiteRule::nodes_of_partition: return {k_code, nodes + violation.owner + " has " + limit};
  case SiteRule::nodes_of_kind:
    return {k_code, util::counted(violation.have, "node") + ": " + input.site.name + " has " + limit +
                        (violation.node ? " of type " + violation.node->id : " of these kinds")};
  case SiteRule::max_nodes_per_user:
    return {k_code, nodes + "one user of " + input.site.name + " may have " + limit};
  case SiteRule::nodes_not_connected:
    return {k_code, "nodes of type " + violation.node->id + " have no network for jobs on several of them",
            "ask for one node"};
  default:
    return {k_code, util::counted(violation.have, "node") + ": " + violation.owner + " is for jobs with " +
                        limit + " or more"};
  }
}

/// More GPUs of a node than it has.
Wording words_of_room(const LayoutInput& input, const PolicyViolation& violation) {
  const auto others = partitions_with_gpus(input, violation.have);
  std::string hint;
  if (!others.empty())
    hint = "partitions with as many: " + others;
  else if (violation.limit > 0)
    hint = fmt::format("ask for more nodes: --nodes {} --gpus-per-node {}",
                       (violation.have * std::max(1u, input.numbers().nodes) + violation.limit - 1) /
                           violation.limit,
                       violation.limit);
  const auto where = violation.node ? "node type " + violation.node->id : "partition " + violation.name;
  return {"request/gpus-per-node",
          fmt::format("{} GPUs per node: {} has {}", violation.have, where,
                      violation.limit ? std::to_string(violation.limit) + " GPUs" : "none"),
          hint};
}

Wording words_of_gpus(const LayoutInput& input, const PolicyViolation& violation) {
  const char* const k_per_node = "request/gpus-per-node";
  const auto& name = input.site.name;
  const auto have = std::to_string(violation.have), limit = std::to_string(violation.limit);
  switch (violation.rule) {
  case SiteRule::gpus_over:
    return {"request/gpus", have + " GPUs in all: " + violation.owner + " allows " + limit,
            input.qos() && input.qos()->max_gpus
                ? qos_for(input, violation.have, &Limits::max_gpus)
                : partitions_for(input, violation.have, &Limits::min_gpus, &Limits::max_gpus)};
  case SiteRule::gpus_under:
    return {"request/gpus",
            have + " GPUs in all: " + violation.owner + " is for jobs with " + limit + " or more",
            partitions_for(input, violation.have, &Limits::min_gpus, &Limits::max_gpus)};
  case SiteRule::gpus_missing:
    return {k_per_node, name + " refuses jobs without GPUs here", "ask for GPUs: --gpus-per-node N"};
  case SiteRule::gpu_count_not_allowed: {
    std::vector<std::string> counts;
    for (const unsigned count : violation.request->allowed_counts) counts.push_back(std::to_string(count));
    return {k_per_node, have + " GPUs per node: " + name + " takes only " + util::join(counts, " or ")};
  }
  case SiteRule::gpus_whole_nodes:
    return {k_per_node, "a job on several nodes of " + name + " takes all " + limit + " GPUs of each",
            "use --gpus-per-node " + limit};
  case SiteRule::gpus_multiple:
    return {k_per_node, have + " GPUs in all: " + name + " takes multiples of " + limit};
  default: return words_of_room(input, violation);
  }
}

Wording words_of_cpus(const LayoutInput& input, const PolicyViolation& violation) {
  const char* const k_code = "request/cpus-per-task";
  const model::PlannedLayout& layout = input.numbers();
  const auto& node = *violation.node;
  if (violation.rule == SiteRule::cpu_share || violation.rule == SiteRule::cpus_many)
    return {k_code,
            fmt::format("{} cores for {} GPUs: node type {} has {} cores per GPU", violation.have,
                        layout.gpus_per_node, node.id, *node.cpus_per_gpu),
            fmt::format("use --cpus-per-task {}",
                        std::max(1ULL, violation.limit / std::max(1u, layout.ranks_per_node)))};
  const unsigned usable = site_rules::usable_cores(node), reserved = node.cpu.cores - usable;
  return {k_code,
          fmt::format("{} ranks with {} cores each need {} cores; node type {} has {} for jobs{}",
                      layout.ranks_per_node, layout.cpus_per_rank, violation.have, node.id, usable,
                      reserved ? fmt::format(" ({} of {} are reserved)", reserved, node.cpu.cores) : ""),
          usable >= layout.ranks_per_node
              ? fmt::format("at most --cpus-per-task {}", usable / std::max(1u, layout.ranks_per_node))
              : fmt::format("at most --tasks-per-node {}", usable)};
}

Wording words_of_memory(const LayoutInput& input, const PolicyViolation& violation) {
  const auto requested = "--mem " + memory_text(violation.have), limit = memory_text(violation.limit);
  if (violation.rule == SiteRule::memory_over && !input.mem())
    return {"request/mem",
            memory_text(violation.have) + " of a node: node type " + violation.node->id + " has " + limit +
                " for jobs",
            "at most " + limit + " on each node"};
  if (violation.rule == SiteRule::memory_over)
    return {"request/mem", requested + ": node type " + violation.node->id + " has " + limit + " for jobs",
            "at most --mem " + limit};
  return {"request/mem",
          fmt::format("{} for {} GPUs: node type {} has {} per GPU", requested, input.numbers().gpus_per_node,
                      violation.node->id, violation.node->mem_per_gpu->to_slurm()),
          "use --mem " + limit + ", or leave it out"};
}

Wording words_of_time(const LayoutInput& input, const PolicyViolation& violation) {
  const char* const k_code = "request/time";
  const unsigned nodes = input.numbers().nodes_asked();
  switch (violation.rule) {
  case SiteRule::time_over: {
    const auto time = model::Walltime::of(std::chrono::seconds(violation.have));
    const bool by_qos = input.qos() && input.qos()->max_time;
    const auto others = by_qos ? qos_that_allow(input, time) : partitions_that_allow(input, time);
    return {k_code,
            "--time " + time_text(violation.have) + ": the limit of " + violation.owner + " is " +
                time_text(violation.limit),
            others.empty() ? "use a shorter time and save checkpoints" : "long enough: " + others};
  }
  case SiteRule::time_under:
    return {k_code, "--time " + time_text(violation.have) + ": " + violation.owner + " takes jobs from " +
                        time_text(violation.limit)};
  case SiteRule::time_short:
    return {k_code, input.site.name + " recommends jobs of " + time_text(violation.limit) + " or more"};
  default:
    return {k_code,
            fmt::format("{} for {}: {} allows {} node minutes", util::counted(nodes, "node"),
                        input.job.time ? input.job.time->value.to_slurm() : time_text(violation.have * 60),
                        violation.owner, violation.limit),
            fmt::format("at most --time {} minutes", violation.limit / std::max(1u, nodes))};
  }
}

std::string known_of(const std::string& wanted, const std::vector<std::string>& names) {
  const auto near = util::nearest(wanted, names);
  return (near ? "did you mean " + *near + "? " : std::string()) + "it knows: " + util::join(names, ", ");
}

Wording words_of_names(const LayoutInput& input, const site_rules::ResourceRequest& demand,
                       const PolicyViolation& violation) {
  const auto profile = "the profile of " + input.site.name;
  switch (violation.rule) {
  case SiteRule::qos_unknown: {
    std::vector<std::string> names;
    for (const auto& known : input.site.qos) names.push_back(known.name);
    return {"request/qos", profile + " has no QoS '" + violation.name + "'", known_of(violation.name, names)};
  }
  case SiteRule::qos_elsewhere:
    return {"request/qos",
            "QoS " + violation.name + " is for " + util::join(input.qos()->partitions, ", ") +
                ", not for partition " + input.partition()->name,
            "say --partition " + input.qos()->partitions.front() + ", or take another QoS"};
  case SiteRule::constraint_operator:
    return {"request/constraint",
            profile + " joins features only with " + util::join(input.site.constraint_operators, " and ") +
                ": --constraint=" + demand.constraint,
            "write it without " + violation.name};
  default:
    return {"request/constraint", profile + " knows no feature '" + violation.name + "'",
            known_of(violation.name, input.site.constraints)};
  }
}

Wording words_of_partition(const model::Site& site, const PolicyViolation& violation) {
  const char* const k_code = "request/partition";
  switch (violation.rule) {
  case SiteRule::partition_refused:
    return {k_code, site.name + " does not let jobs name a partition",
            "leave --partition out" + (violation.flag->why.empty() ? "" : ": " + violation.flag->why)};
  case SiteRule::partition_discouraged:
    return {k_code, site.name + " asks to leave --partition out", violation.flag->why};
  default:
    return {k_code,
            "partition '" + violation.name + "' of " + site.name + " is chosen by Slurm and may not be named",
            "leave --partition out"};
  }
}

Wording words_of(const LayoutInput& input, const site_rules::ResourceRequest& demand,
                 const PolicyViolation& violation) {
  const auto id = site_rules::rule_id(violation.rule);
  if (id == "site/nodes") return words_of_nodes(input, violation);
  if (id == "site/memory" || violation.rule == SiteRule::memory_share)
    return words_of_memory(input, violation);
  if (id == "site/cpus-per-node" || id == "site/gpu-share") return words_of_cpus(input, violation);
  if (id == "site/time-limit-exceeded" || id == "site/time-limit-too-short")
    return words_of_time(input, violation);
  if (id == "site/qos-unknown" || id == "site/qos-fit" || id == "site/constraint")
    return words_of_names(input, demand, violation);
  if (violation.rule == SiteRule::jobs_over) {
    const auto fault = describe_job_count(violation);
    return {"request/array", "--array=" + input.job.array->value + ": " + fault.what, fault.hint};
  }
  return words_of_gpus(input, violation);
}

/// What is only said, as the job can still be right: names that the profile lacks, and what the site asks
/// for.
bool is_warning(SiteRule rule) {
  return rule == SiteRule::partition_discouraged || rule == SiteRule::time_short ||
         rule == SiteRule::cpus_many || rule == SiteRule::qos_unknown || rule == SiteRule::feature_unknown ||
         rule == SiteRule::constraint_operator;
}

void report_violation(const LayoutInput& input, const site_rules::ResourceRequest& demand,
                      const PolicyViolation& violation, StepDiagnostics& diagnostics) {
  if (violation.rule == SiteRule::gpus_idle)
    return diagnostics.note((violation.owner.empty() ? "--exclusive gives" : "the partition gives") +
                                std::string(" whole nodes: ") +
                                std::to_string(violation.limit - violation.have) +
                                " GPUs of each node stay idle",
                            violation.origin);
  // Without a rule of the site more cores are nobody's loss.
  if (violation.rule == SiteRule::cpus_many && violation.node->share_policy == model::SharePolicy::none)
    return;
  auto [code, what, hint] = words_of(input, demand, violation);
  const bool by_node = violation.rule == SiteRule::gpus_on_cpu_nodes && violation.node;
  if (violation.rule != SiteRule::jobs_over)
    what += site_rules::cited(by_node ? violation.node->origin : violation.origin);
  if (violation.rule == SiteRule::cpus_many) what += "; more may wait longer or block GPUs for others";
  if (violation.reservable) what += "; the job's reservation may allow it";
  if (violation.reservable || is_warning(violation.rule))
    diagnostics.warning(code, what, hint);
  else
    diagnostics.error(code, what, hint);
}

} // namespace

util::Error describe_job_count(const PolicyViolation& violation) {
  const auto most = std::to_string(violation.limit);
  return {std::to_string(violation.have) + " jobs at a time: " + violation.owner + " lets one user have " +
              most + " queued and running" + site_rules::cited(violation.origin),
          "submit at most " + most + ", and more when these have ended"};
}

StepDiagnostics evaluate_named_partition(const Request& request, const site_rules::ResolvedPlacement& place) {
  StepDiagnostics diagnostics;
  for (const auto& violation :
       site_rules::evaluate_policy(request.site, place, site_rules::demand_of(request.job))) {
    if (violation.rule == SiteRule::partition_unknown || violation.rule == SiteRule::partition_not_described)
      diagnostics.findings.push_back(describe_unknown_partition(request.site, violation));
    if (site_rules::rule_id(violation.rule) != "site/partition-named") continue;
    const auto [code, what, hint] = words_of_partition(request.site, violation);
    if (is_warning(violation.rule))
      diagnostics.warning(code, what + site_rules::cited(violation.origin), hint);
    else
      diagnostics.error(code, what + site_rules::cited(violation.origin), hint);
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
    : x_given(input), x_demand(std::move(demand)) {
  auto place = input.placement.place;
  place.facts = input.facts();
  x_violations = site_rules::evaluate_policy(input.site, place, x_demand);
}

void SiteViolations::report(StepDiagnostics& diagnostics, std::initializer_list<SiteRule> rules) const {
  for (const auto& violation : x_violations)
    if (std::find(rules.begin(), rules.end(), violation.rule) != rules.end())
      plan::report_violation(x_given, x_demand, violation, diagnostics);
}

} // namespace hpcml::plan
