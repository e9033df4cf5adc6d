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

Wording words_of_nodes(const LayoutInput& input, const PolicyViolation& verdict) {
  const char* const k_code = "request/nodes";
  const auto limit = std::to_string(verdict.limit);
  const auto nodes = std::to_string(verdict.have) + " nodes: ";
  switch (verdict.rule) {
  case SiteRule::nodes_over: {
    const auto others =
        input.qos() && input.qos()->max_nodes ? std::string() : partitions_with_nodes(input, verdict.have);
    return {k_code, nodes + verdict.owner + " allows " + limit,
            others.empty() ? "" : "these partitions allow as many: " + others};
  }
  case SiteRule::nodes_of_partition: return {k_code, nodes + verdict.owner + " has " + limit};
  case SiteRule::nodes_of_kind:
    return {k_code, util::counted(verdict.have, "node") + ": " + input.site.name + " has " + limit +
                        (verdict.node ? " of type " + verdict.node->id : " of these kinds")};
  case SiteRule::max_nodes_per_user:
    return {k_code, nodes + "one user of " + input.site.name + " may have " + limit};
  case SiteRule::nodes_not_connected:
    return {k_code, "nodes of type " + verdict.node->id + " have no network for jobs on several of them",
            "ask for one node"};
  default:
    return {k_code, util::counted(verdict.have, "node") + ": " + verdict.owner + " is for jobs with " +
                        limit + " or more"};
  }
}

/// More GPUs of a node than it has.
Wording words_of_room(const LayoutInput& input, const PolicyViolation& verdict) {
  const auto others = partitions_with_gpus(input, verdict.have);
  std::string hint;
  if (!others.empty())
    hint = "partitions with as many: " + others;
  else if (verdict.limit > 0)
    hint =
        fmt::format("ask for more nodes: --nodes {} --gpus-per-node {}",
                    (verdict.have * std::max(1u, input.numbers().nodes) + verdict.limit - 1) / verdict.limit,
                    verdict.limit);
  const auto where = verdict.node ? "node type " + verdict.node->id : "partition " + verdict.name;
  return {"request/gpus-per-node",
          fmt::format("{} GPUs per node: {} has {}", verdict.have, where,
                      verdict.limit ? std::to_string(verdict.limit) + " GPUs" : "none"),
          hint};
}

Wording words_of_gpus(const LayoutInput& input, const PolicyViolation& verdict) {
  const char* const k_per_node = "request/gpus-per-node";
  const auto& name = input.site.name;
  const auto have = std::to_string(verdict.have), limit = std::to_string(verdict.limit);
  switch (verdict.rule) {
  case SiteRule::gpus_over:
    return {"request/gpus", have + " GPUs in all: " + verdict.owner + " allows " + limit,
            input.qos() && input.qos()->max_gpus
                ? qos_for(input, verdict.have, &Limits::max_gpus)
                : partitions_for(input, verdict.have, &Limits::min_gpus, &Limits::max_gpus)};
  case SiteRule::gpus_under:
    return {"request/gpus",
            have + " GPUs in all: " + verdict.owner + " is for jobs with " + limit + " or more",
            partitions_for(input, verdict.have, &Limits::min_gpus, &Limits::max_gpus)};
  case SiteRule::gpus_missing:
    return {k_per_node, name + " refuses jobs without GPUs here", "ask for GPUs: --gpus-per-node N"};
  case SiteRule::gpu_count_not_allowed: {
    std::vector<std::string> counts;
    for (const unsigned count : verdict.request->allowed_counts) counts.push_back(std::to_string(count));
    return {k_per_node, have + " GPUs per node: " + name + " takes only " + util::join(counts, " or ")};
  }
  case SiteRule::gpus_whole_nodes:
    return {k_per_node, "a job on several nodes of " + name + " takes all " + limit + " GPUs of each",
            "use --gpus-per-node " + limit};
  case SiteRule::gpus_multiple:
    return {k_per_node, have + " GPUs in all: " + name + " takes multiples of " + limit};
  default: return words_of_room(input, verdict);
  }
}

Wording words_of_cpus(const LayoutInput& input, const PolicyViolation& verdict) {
  const char* const k_code = "request/cpus-per-task";
  const model::PlannedLayout& layout = input.numbers();
  const auto& node = *verdict.node;
  if (verdict.rule == SiteRule::cpu_share || verdict.rule == SiteRule::cpus_many)
    return {k_code,
            fmt::format("{} cores for {} GPUs: node type {} has {} cores per GPU", verdict.have,
                        layout.gpus_per_node, node.id, *node.cpus_per_gpu),
            fmt::format("use --cpus-per-task {}",
                        std::max(1ULL, verdict.limit / std::max(1u, layout.ranks_per_node)))};
  const unsigned usable = site_rules::usable_cores(node), reserved = node.cpu.cores - usable;
  return {k_code,
          fmt::format("{} ranks with {} cores each need {} cores; node type {} has {} for jobs{}",
                      layout.ranks_per_node, layout.cpus_per_rank, verdict.have, node.id, usable,
                      reserved ? fmt::format(" ({} of {} are reserved)", reserved, node.cpu.cores) : ""),
          usable >= layout.ranks_per_node
              ? fmt::format("at most --cpus-per-task {}", usable / std::max(1u, layout.ranks_per_node))
              : fmt::format("at most --tasks-per-node {}", usable)};
}

Wording words_of_memory(const LayoutInput& input, const PolicyViolation& verdict) {
  const auto requested = "--mem " + memory_text(verdict.have), limit = memory_text(verdict.limit);
  if (verdict.rule == SiteRule::memory_over && !input.mem())
    return {"request/mem",
            memory_text(verdict.have) + " of a node: node type " + verdict.node->id + " has " + limit +
                " for jobs",
            "at most " + limit + " on each node"};
  if (verdict.rule == SiteRule::memory_over)
    return {"request/mem", requested + ": node type " + verdict.node->id + " has " + limit + " for jobs",
            "at most --mem " + limit};
  return {"request/mem",
          fmt::format("{} for {} GPUs: node type {} has {} per GPU", requested, input.numbers().gpus_per_node,
                      verdict.node->id, verdict.node->mem_per_gpu->to_slurm()),
          "use --mem " + limit + ", or leave it out"};
}

Wording words_of_time(const LayoutInput& input, const PolicyViolation& verdict) {
  const char* const k_code = "request/time";
  const unsigned nodes = input.numbers().nodes_asked();
  switch (verdict.rule) {
  case SiteRule::time_over: {
    const auto time = model::Walltime::of(std::chrono::seconds(verdict.have));
    const bool by_qos = input.qos() && input.qos()->max_time;
    const auto others = by_qos ? qos_that_allow(input, time) : partitions_that_allow(input, time);
    return {k_code,
            "--time " + time_text(verdict.have) + ": the limit of " + verdict.owner + " is " +
                time_text(verdict.limit),
            others.empty() ? "use a shorter time and save checkpoints" : "long enough: " + others};
  }
  case SiteRule::time_under:
    return {k_code, "--time " + time_text(verdict.have) + ": " + verdict.owner + " takes jobs from " +
                        time_text(verdict.limit)};
  case SiteRule::time_short:
    return {k_code, input.site.name + " recommends jobs of " + time_text(verdict.limit) + " or more"};
  default:
    return {k_code,
            fmt::format("{} for {}: {} allows {} node minutes", util::counted(nodes, "node"),
                        input.job.time ? input.job.time->value.to_slurm() : time_text(verdict.have * 60),
                        verdict.owner, verdict.limit),
            fmt::format("at most --time {} minutes", verdict.limit / std::max(1u, nodes))};
  }
}

std::string known_of(const std::string& wanted, const std::vector<std::string>& names) {
  const auto near = util::nearest(wanted, names);
  return (near ? "did you mean " + *near + "? " : std::string()) + "it knows: " + util::join(names, ", ");
}

Wording words_of_names(const LayoutInput& input, const site_rules::ResourceRequest& demand,
                       const PolicyViolation& verdict) {
  const auto profile = "the profile of " + input.site.name;
  switch (verdict.rule) {
  case SiteRule::qos_unknown: {
    std::vector<std::string> names;
    for (const auto& known : input.site.qos) names.push_back(known.name);
    return {"request/qos", profile + " has no QoS '" + verdict.name + "'", known_of(verdict.name, names)};
  }
  case SiteRule::qos_elsewhere:
    return {"request/qos",
            "QoS " + verdict.name + " is for " + util::join(input.qos()->partitions, ", ") +
                ", not for partition " + input.partition()->name,
            "say --partition " + input.qos()->partitions.front() + ", or take another QoS"};
  case SiteRule::constraint_operator:
    return {"request/constraint",
            profile + " joins features only with " + util::join(input.site.constraint_operators, " and ") +
                ": --constraint=" + demand.constraint,
            "write it without " + verdict.name};
  default:
    return {"request/constraint", profile + " knows no feature '" + verdict.name + "'",
            known_of(verdict.name, input.site.constraints)};
  }
}

Wording words_of_partition(const model::Site& site, const PolicyViolation& verdict) {
  const char* const k_code = "request/partition";
  switch (verdict.rule) {
  case SiteRule::partition_refused:
    return {k_code, site.name + " does not let jobs name a partition",
            "leave --partition out" + (verdict.flag->why.empty() ? "" : ": " + verdict.flag->why)};
  case SiteRule::partition_discouraged:
    return {k_code, site.name + " asks to leave --partition out", verdict.flag->why};
  default:
    return {k_code,
            "partition '" + verdict.name + "' of " + site.name + " is chosen by Slurm and may not be named",
            "leave --partition out"};
  }
}

Wording words_of(const LayoutInput& input, const site_rules::ResourceRequest& demand,
                 const PolicyViolation& verdict) {
  const auto id = site_rules::rule_id(verdict.rule);
  if (id == "site/nodes") return words_of_nodes(input, verdict);
  if (id == "site/memory" || verdict.rule == SiteRule::memory_share) return words_of_memory(input, verdict);
  if (id == "site/cpus-per-node" || id == "site/gpu-share") return words_of_cpus(input, verdict);
  if (id == "site/time-limit-exceeded" || id == "site/time-limit-too-short")
    return words_of_time(input, verdict);
  if (id == "site/qos-unknown" || id == "site/qos-fit" || id == "site/constraint")
    return words_of_names(input, demand, verdict);
  if (verdict.rule == SiteRule::jobs_over) {
    const auto fault = describe_job_count(verdict);
    return {"request/array", "--array=" + input.job.array->value + ": " + fault.what, fault.hint};
  }
  return words_of_gpus(input, verdict);
}

/// What is only said, as the job can still be right: names that the profile lacks, and what the site asks
/// for.
bool is_warning(SiteRule rule) {
  return rule == SiteRule::partition_discouraged || rule == SiteRule::time_short ||
         rule == SiteRule::cpus_many || rule == SiteRule::qos_unknown || rule == SiteRule::feature_unknown ||
         rule == SiteRule::constraint_operator;
}

void say(const LayoutInput& input, const site_rules::ResourceRequest& demand, const PolicyViolation& verdict,
         StepDiagnostics& diagnostics) {
  if (verdict.rule == SiteRule::gpus_idle)
    return diagnostics.note((verdict.owner.empty() ? "--exclusive gives" : "the partition gives") +
                                std::string(" whole nodes: ") + std::to_string(verdict.limit - verdict.have) +
                                " GPUs of each node stay idle",
                            verdict.origin);
  // Without a rule of the site more cores are nobody's loss.
  if (verdict.rule == SiteRule::cpus_many && verdict.node->share_policy == model::SharePolicy::none) return;
  auto [code, what, hint] = words_of(input, demand, verdict);
  const bool by_node = verdict.rule == SiteRule::gpus_on_cpu_nodes && verdict.node;
  if (verdict.rule != SiteRule::jobs_over)
    what += site_rules::cited(by_node ? verdict.node->origin : verdict.origin);
  if (verdict.rule == SiteRule::cpus_many) what += "; more may wait longer or block GPUs for others";
  if (verdict.reservable) what += "; the job's reservation may allow it";
  if (verdict.reservable || is_warning(verdict.rule))
    diagnostics.warning(code, what, hint);
  else
    diagnostics.error(code, what, hint);
}

} // namespace

util::Error describe_job_count(const PolicyViolation& verdict) {
  const auto most = std::to_string(verdict.limit);
  return {std::to_string(verdict.have) + " jobs at a time: " + verdict.owner + " lets one user have " + most +
              " queued and running" + site_rules::cited(verdict.origin),
          "submit at most " + most + ", and more when these have ended"};
}

StepDiagnostics judge_named_partition(const Request& request, const site_rules::ResolvedPlacement& place) {
  StepDiagnostics diagnostics;
  for (const auto& verdict :
       site_rules::evaluate_policy(request.site, place, site_rules::demand_of(request.job))) {
    if (verdict.rule == SiteRule::partition_unknown || verdict.rule == SiteRule::partition_not_described)
      diagnostics.findings.push_back(describe_unknown_partition(request.site, verdict));
    if (site_rules::rule_id(verdict.rule) != "site/partition-named") continue;
    const auto [code, what, hint] = words_of_partition(request.site, verdict);
    if (is_warning(verdict.rule))
      diagnostics.warning(code, what + site_rules::cited(verdict.origin), hint);
    else
      diagnostics.error(code, what + site_rules::cited(verdict.origin), hint);
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
  x_verdicts = site_rules::evaluate_policy(input.site, place, x_demand);
}

void SiteViolations::say(StepDiagnostics& diagnostics, std::initializer_list<SiteRule> rules) const {
  for (const auto& verdict : x_verdicts)
    if (std::find(rules.begin(), rules.end(), verdict.rule) != rules.end())
      plan::say(x_given, x_demand, verdict, diagnostics);
}

} // namespace hpcml::plan
