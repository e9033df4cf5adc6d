// SPDX-License-Identifier: MIT
#include "core/site_rules/violation_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "core/model/mem_size.hpp"
#include "core/model/walltime.hpp"
#include "core/site_rules/limits.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

using util::counted;

/// Everything that the sentences name.
struct Context {
  const PolicyViolation& violation;
  const model::Site& site;
  const ResolvedPlacement& placement;
  const ResourceRequest& demand;
};

std::string time_text(unsigned long long seconds) {
  return model::Walltime::of(std::chrono::seconds(seconds)).to_slurm();
}

std::string memory_text(unsigned long long mib) { return model::MemSize::of_mib(mib).to_slurm(); }

/// Returns the verb of a sentence whose subject is a count.
const char* exceeds(unsigned long long count) { return count == 1 ? "exceeds" : "exceed"; }
const char* is(unsigned long long count) { return count == 1 ? "is" : "are"; }

std::string holder_of(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  return violation.node ? fmt::format("node type {}", violation.node->id)
                        : fmt::format("partition {}", violation.name);
}

std::string describe_nodes(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  const auto nodes = counted(violation.have, "node");
  const auto* verb = exceeds(violation.have);
  switch (violation.rule) {
  case SiteRule::max_nodes_per_user:
    return fmt::format("{} {} the maximum of one user on {} ({})", nodes, verb, site.name, violation.limit);
  case SiteRule::nodes_not_connected:
    return fmt::format("node type {} has no network for jobs on several nodes", violation.node->id);
  case SiteRule::nodes_over:
    return fmt::format("{} {} the maximum of {} ({})", nodes, verb, violation.owner, violation.limit);
  case SiteRule::nodes_of_partition:
    return fmt::format("{} {} the size of {} ({})", nodes, verb, violation.owner, violation.limit);
  case SiteRule::nodes_of_kind:
    return violation.node ? fmt::format("{} {} the nodes of type {} on {} ({})", nodes, verb,
                                        violation.node->id, site.name, violation.limit)
                          : fmt::format("{} {} the nodes of these types on {} ({})", nodes, verb, site.name,
                                        violation.limit);
  default:
    return fmt::format("{} {} below the minimum of {} ({})", nodes, is(violation.have), violation.owner,
                       violation.limit);
  }
}

std::string describe_gpu_count(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  if (violation.rule == SiteRule::gpus_whole_nodes)
    return fmt::format("a job on several nodes of {} must use all {} GPUs of each node", site.name,
                       violation.limit);
  if (violation.rule == SiteRule::gpus_multiple)
    return fmt::format("{} in total {} not a multiple of {}, which {} requires",
                       counted(violation.have, "GPU"), is(violation.have), violation.limit, site.name);
  return fmt::format("{} per node {} not allowed on {} (only {})", counted(violation.have, "GPU"),
                     is(violation.have), site.name, fmt::join(violation.request->allowed_counts, " or "));
}

std::string describe_gpus(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  const auto gpus = counted(violation.have, "GPU");
  switch (violation.rule) {
  case SiteRule::gpus_on_cpu_nodes:
    return violation.name.empty() ? fmt::format("{} has no GPUs", holder_of(context))
                                  : fmt::format("partition {} has no GPUs", violation.name);
  case SiteRule::gpus_of_node:
    return fmt::format("{} per node {} those of {} ({})", gpus, exceeds(violation.have), holder_of(context),
                       violation.limit);
  case SiteRule::gpus_on_nodes:
    return fmt::format("{} on {} {} those of {} ({} each)", gpus, counted(demand.nodes, "node"),
                       exceeds(violation.have), holder_of(context), violation.limit);
  case SiteRule::gpus_over:
    return fmt::format("{} in total {} the maximum of {} ({})", gpus, exceeds(violation.have),
                       violation.owner, violation.limit);
  case SiteRule::gpus_under:
    return fmt::format("{} in total {} below the minimum of {} ({})", gpus, is(violation.have),
                       violation.owner, violation.limit);
  case SiteRule::gpus_missing:
    return violation.certainty == Confidence::definite
               ? fmt::format("{} rejects jobs without GPUs here", site.name)
               : "the job requests no GPUs, but the nodes here are for jobs with GPUs";
  case SiteRule::gpus_idle:
    return fmt::format("{} allocates whole nodes: {} of each node {} idle",
                       violation.owner.empty() ? "--exclusive" : violation.owner,
                       counted(violation.limit - violation.have, "GPU"),
                       violation.limit - violation.have == 1 ? "stays" : "stay");
  case SiteRule::type_unknown: return fmt::format("no node here has GPUs of type '{}'", violation.name);
  case SiteRule::gpu_type_required: return fmt::format("{} requires the type of the GPUs", site.name);
  default: return describe_gpu_count(context);
  }
}

std::string describe_cpus(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  const auto cpus = counted(violation.have, "CPU");
  const auto& node = *violation.node;
  if (violation.rule == SiteRule::cpus_over)
    return fmt::format("{} per node {} those of node type {} ({} cores for jobs)", cpus,
                       exceeds(violation.have), node.id, usable_cores(node));
  if (violation.rule == SiteRule::cpus_reserved)
    return fmt::format("{} per node {} those of node type {} for jobs ({} of {} cores)", cpus,
                       exceeds(violation.have), node.id, usable_cores(node), node.cpu.cores);
  const auto gpus = counted(demand.gpus_per_node, "GPU");
  if (violation.have < violation.limit)
    return fmt::format(
        "{} for {} {} below the share of node type {} ({} per GPU); data loaders may keep the GPUs waiting",
        cpus, gpus, is(violation.have), node.id, counted(*node.cpus_per_gpu, "core"));
  return fmt::format("{} for {} {} the share of node type {} ({} per GPU){}", cpus, gpus,
                     exceeds(violation.have), node.id, counted(*node.cpus_per_gpu, "core"),
                     violation.rule == SiteRule::cpus_many ? "; the job may wait longer or block GPUs" : "");
}

std::string describe_memory(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  const auto memory = memory_text(violation.have);
  const auto& node = *violation.node;
  if (violation.rule == SiteRule::memory_over)
    return fmt::format("{} of memory per node exceeds the maximum of node type {} ({})", memory, node.id,
                       memory_text(violation.limit));
  const auto gpus = counted(demand.gpus_per_node, "GPU");
  return fmt::format(
      "{} of memory for {} {} the share of node type {} ({} per GPU){}", memory, gpus,
      violation.have > violation.limit ? "exceeds" : "is below", node.id, node.mem_per_gpu->to_slurm(),
      violation.rule == SiteRule::memory_many ? "; the job may wait longer or block GPUs" : "");
}

std::string describe_time(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  const auto limit = violation.rule == SiteRule::node_minutes ? "" : time_text(violation.limit);
  switch (violation.rule) {
  case SiteRule::time_over:
    return violation.have == 0
               ? fmt::format("unlimited time exceeds the maximum of {} ({})", violation.owner, limit)
               : fmt::format("time limit {} exceeds the maximum of {} ({})", time_text(violation.have),
                             violation.owner, limit);
  case SiteRule::time_under:
    return fmt::format("time limit {} is below the minimum of {} ({})", time_text(violation.have),
                       violation.owner, limit);
  case SiteRule::time_short:
    return fmt::format("time limit {} is below the minimum that {} recommends ({})",
                       time_text(violation.have), site.name, limit);
  default:
    return fmt::format("{} for {} {} the maximum of {} ({} node minutes)", counted(demand.nodes, "node"),
                       counted(violation.have, "minute"), exceeds(demand.nodes), violation.owner,
                       violation.limit);
  }
}

std::string describe_names(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  const auto& name = violation.name;
  switch (violation.rule) {
  case SiteRule::qos_unknown: return fmt::format("the profile of {} has no QoS '{}'", site.name, name);
  case SiteRule::qos_elsewhere:
    return fmt::format("QoS {} is for {}, not for partition {}", name,
                       util::join(placement.qos->partitions, ", "), placement.partition()->name);
  case SiteRule::qos_needs: return fmt::format("QoS {} requires {}", placement.qos->name, name);
  case SiteRule::qos_on_request: return fmt::format("QoS {} is available only on request", name);
  case SiteRule::partition_on_request: return fmt::format("partition {} is available only on request", name);
  case SiteRule::constraint_operator:
    return fmt::format("{} combines features only with '{}', not with '{}'", site.name,
                       util::join(site.constraint_operators, "' and '"), name);
  default: return fmt::format("the profile of {} has no feature '{}'", site.name, name);
  }
}

/// A rule about an option, with the reason that the profile gives.
std::string describe_option(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  const auto why = violation.flag->why.empty() ? "" : ": " + violation.flag->why;
  const auto& option = violation.name;
  switch (violation.rule) {
  case SiteRule::partition_refused:
    return fmt::format("{} does not allow jobs to name a partition{}", site.name, why);
  case SiteRule::partition_discouraged:
    return fmt::format("{} advises against naming a partition{}", site.name, why);
  case SiteRule::option_refused: return fmt::format("{} rejects --{}{}", site.name, option, why);
  case SiteRule::option_discouraged: return fmt::format("{} advises against --{}{}", site.name, option, why);
  case SiteRule::option_ignored: return fmt::format("{} ignores --{}{}", site.name, option, why);
  case SiteRule::option_missing: return fmt::format("{} requires --{}{}", site.name, option, why);
  case SiteRule::option_on_srun:
    return fmt::format("{} accepts --{} only for srun, not in a directive{}", site.name, option, why);
  case SiteRule::option_suffix:
    return fmt::format("--{}={} does not end with {}{}", option, demand.text(option), violation.flag->suffix,
                       why);
  default:
    return fmt::format("--{}={} does not have the form that {} expects{}", option, demand.text(option),
                       site.name, why);
  }
}

std::string describe_place(const Context& context) {
  const auto& [violation, site, placement, demand] = context;
  switch (violation.rule) {
  case SiteRule::site_retired: return describe_retirement(site).what;
  case SiteRule::no_scheduler: return describe_no_scheduler(site);
  case SiteRule::partition_chosen:
    return fmt::format("partition {} of {} is chosen by Slurm and must not be named", violation.name,
                       site.name);
  case SiteRule::jobs_over:
    return fmt::format("{} {} the maximum of one user in {} ({} queued and running)",
                       counted(violation.have, "job"), exceeds(violation.have), violation.owner,
                       violation.limit);
  default: return describe_partition_name(violation, site);
  }
}

bool is_of(std::string_view id, std::initializer_list<std::string_view> ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string sentence_of(const Context& context) {
  const auto id = rule_id(context.violation.rule);
  const auto rule = context.violation.rule;
  if (id == "site/nodes") return describe_nodes(context);
  if (id == "site/memory" || rule == SiteRule::memory_share || rule == SiteRule::memory_many)
    return describe_memory(context);
  if (is_of(id, {"site/cpus-per-node", "site/gpu-share"})) return describe_cpus(context);
  if (is_of(id, {"site/time-limit-exceeded", "site/time-limit-too-short"})) return describe_time(context);
  if (is_of(id, {"site/qos-unknown", "site/qos-fit", "site/constraint", "site/on-request"}))
    return describe_names(context);
  if (is_of(id, {"site/retired", "site/no-scheduler", "site/partition-unknown", "site/jobs"}) ||
      rule == SiteRule::partition_chosen)
    return describe_place(context);
  return context.violation.flag ? describe_option(context) : describe_gpus(context);
}

} // namespace

std::string describe(const PolicyViolation& violation, const model::Site& site,
                     const ResolvedPlacement& placement, const ResourceRequest& demand) {
  auto sentence = sentence_of({violation, site, placement, demand});
  if (violation.reservable) sentence += "; the reservation of the job may allow it";
  return sentence;
}

std::string describe_partition_name(const PolicyViolation& violation, const model::Site& site) {
  if (violation.rule == SiteRule::partition_not_described)
    return fmt::format("the profile of {} lists partition '{}' but does not describe it", site.name,
                       violation.name);
  if (violation.certainty == Confidence::advisory)
    return fmt::format("the profile of {} does not list partition '{}', which may belong to a group",
                       site.name, violation.name);
  return fmt::format("the profile of {} has no partition '{}'", site.name, violation.name);
}

std::string describe_source(const model::Origin& origin) {
  if (origin.source.empty()) return {};
  return origin.checked.empty() ? origin.source.text()
                                : fmt::format("{}, read {}", origin.source.text(), origin.checked.text());
}

} // namespace hpcml::site_rules
