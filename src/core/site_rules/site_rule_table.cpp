// SPDX-License-Identifier: MIT
#include "core/site_rules/site_rule_table.hpp"

#include <cstddef>
#include <fmt/format.h>

#include "core/model/mem_size.hpp"
#include "core/model/walltime.hpp"
#include "core/site_rules/limits.hpp"
#include "core/site_rules/rule_hint.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/site_rules/violation_text.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

using util::counted;
using Context = ViolationContext;

// The sentences: one function for each rule.
namespace text {

std::string time_text(unsigned long long seconds) {
  return model::Walltime::of(std::chrono::seconds(seconds)).to_slurm();
}

std::string memory_text(unsigned long long mib) { return model::MemSize::of_mib(mib).to_slurm(); }

/// Returns the verb of a sentence whose subject is a count.
const char* exceeds(unsigned long long count) { return count == 1 ? "exceeds" : "exceed"; }
const char* is(unsigned long long count) { return count == 1 ? "is" : "are"; }

std::string nodes(const Context& c) { return counted(c.violation.have, "node"); }
std::string gpus(const Context& c) { return counted(c.violation.have, "GPU"); }

/// Returns the node type or the partition that has too few GPUs.
std::string gpu_holder(const Context& c) {
  return c.violation.node ? fmt::format("node type {}", c.violation.node->id)
                          : fmt::format("partition {}", c.violation.name);
}

/// Returns the reason that the profile gives for a rule about an option.
std::string reason(const Context& c) {
  return c.violation.flag->why.empty() ? "" : ": " + c.violation.flag->why;
}

std::string value(const Context& c) { return c.demand.text(c.violation.name); }

/// Describes CPUs that exceed or are below the share of the GPUs.
std::string cpu_share(const Context& c) {
  const auto& [violation, site, placement, demand] = c;
  const bool few = violation.have < violation.limit;
  return fmt::format("{} for {} {} the share of node type {} ({} per GPU){}", counted(violation.have, "CPU"),
                     counted(demand.gpus_per_node, "GPU"),
                     few ? fmt::format("{} below", is(violation.have)) : exceeds(violation.have),
                     violation.node->id, counted(*violation.node->cpus_per_gpu, "core"),
                     few                                     ? "; data loaders may keep the GPUs waiting"
                     : violation.rule == SiteRule::cpus_many ? "; the job may wait longer or block GPUs"
                                                             : "");
}

/// Describes memory that exceeds or is below the share of the GPUs.
std::string memory_share(const Context& c) {
  const auto& [violation, site, placement, demand] = c;
  return fmt::format(
      "{} of memory for {} {} the share of node type {} ({} per GPU){}", memory_text(violation.have),
      counted(demand.gpus_per_node, "GPU"), violation.have > violation.limit ? "exceeds" : "is below",
      violation.node->id, violation.node->mem_per_gpu->to_slurm(),
      violation.rule == SiteRule::memory_many ? "; the job may wait longer or block GPUs" : "");
}

std::string partition_name(const Context& c) { return describe_partition_name(c.violation, c.site); }

std::string site_retired(const Context& c) { return describe_retirement(c.site).what; }

std::string no_scheduler(const Context& c) { return describe_no_scheduler(c.site); }

std::string partition_refused(const Context& c) {
  return fmt::format("{} does not allow jobs to name a partition{}", c.site.name, reason(c));
}

std::string partition_discouraged(const Context& c) {
  return fmt::format("{} advises against naming a partition{}", c.site.name, reason(c));
}

std::string partition_chosen(const Context& c) {
  return fmt::format("partition {} of {} is chosen by Slurm and must not be named", c.violation.name,
                     c.site.name);
}

std::string gpus_on_cpu_nodes(const Context& c) {
  if (c.violation.name.empty()) return fmt::format("{} has no GPUs", gpu_holder(c));
  return c.demand.partitions.empty()
             ? fmt::format("the job names no partition, and the default partition {} has no GPUs",
                           c.violation.name)
             : fmt::format("partition {} has no GPUs", c.violation.name);
}

std::string max_nodes_per_user(const Context& c) {
  return fmt::format("{} {} the maximum of one user on {} ({})", nodes(c), exceeds(c.violation.have),
                     c.site.name, c.violation.limit);
}

std::string nodes_not_connected(const Context& c) {
  return fmt::format("node type {} has no network for jobs on several nodes", c.violation.node->id);
}

std::string nodes_over(const Context& c) {
  return fmt::format("{} {} the maximum of {} ({})", nodes(c), exceeds(c.violation.have), c.violation.owner,
                     c.violation.limit);
}

std::string nodes_of_partition(const Context& c) {
  return fmt::format("{} {} the size of {} ({})", nodes(c), exceeds(c.violation.have), c.violation.owner,
                     c.violation.limit);
}

std::string nodes_of_kind(const Context& c) {
  const auto types = c.violation.node ? fmt::format("the nodes of type {}", c.violation.node->id)
                                      : "the nodes of these types";
  return fmt::format("{} {} {} on {} ({})", nodes(c), exceeds(c.violation.have), types, c.site.name,
                     c.violation.limit);
}

std::string nodes_under(const Context& c) {
  return fmt::format("{} {} below the minimum of {} ({})", nodes(c), is(c.violation.have), c.violation.owner,
                     c.violation.limit);
}

std::string gpus_of_node(const Context& c) {
  return fmt::format("{} per node {} those of {} ({})", gpus(c), exceeds(c.violation.have), gpu_holder(c),
                     c.violation.limit);
}

std::string gpus_on_nodes(const Context& c) {
  return fmt::format("{} on {} {} those of {} ({} each)", gpus(c), counted(c.demand.nodes, "node"),
                     exceeds(c.violation.have), gpu_holder(c), c.violation.limit);
}

std::string gpu_count_not_allowed(const Context& c) {
  return fmt::format("{} per node {} not allowed on {} (only {})", gpus(c), is(c.violation.have), c.site.name,
                     fmt::join(c.violation.request->allowed_counts, " or "));
}

std::string gpus_whole_nodes(const Context& c) {
  return fmt::format("a job on several nodes of {} must use all {} GPUs of each node", c.site.name,
                     c.violation.limit);
}

std::string gpus_multiple(const Context& c) {
  return fmt::format("{} in total {} not a multiple of {}, which {} requires", gpus(c), is(c.violation.have),
                     c.violation.limit, c.site.name);
}

std::string gpus_over(const Context& c) {
  return fmt::format("{} in total {} the maximum of {} ({})", gpus(c), exceeds(c.violation.have),
                     c.violation.owner, c.violation.limit);
}

std::string gpus_under(const Context& c) {
  return fmt::format("{} in total {} below the minimum of {} ({})", gpus(c), is(c.violation.have),
                     c.violation.owner, c.violation.limit);
}

std::string gpus_missing(const Context& c) {
  return c.violation.certainty == Confidence::definite
             ? fmt::format("{} rejects jobs without GPUs here", c.site.name)
             : "the job requests no GPUs, but the nodes here are for jobs with GPUs";
}

std::string gpus_idle(const Context& c) {
  const auto idle = c.violation.limit - c.violation.have;
  return fmt::format("{} allocates whole nodes: {} of each node {} idle",
                     c.violation.owner.empty() ? "--exclusive" : c.violation.owner, counted(idle, "GPU"),
                     idle == 1 ? "stays" : "stay");
}

std::string type_unknown(const Context& c) {
  const bool elsewhere = !partitions_with_type(c.site, c.violation.name).empty();
  std::vector<std::string> names;
  for (const auto* partition : c.placement.partitions) names.push_back(partition->name);
  const auto place = elsewhere && !names.empty() ? fmt::format("partition{} {}", names.size() == 1 ? "" : "s",
                                                               util::join(names, ", "))
                                                 : c.site.name;
  return fmt::format("no node of {} has GPUs of type '{}'", place, c.violation.name);
}

std::string gpu_type_required(const Context& c) {
  return fmt::format("{} requires the type of the GPUs", c.site.name);
}

std::string gpu_type_recommended(const Context& c) {
  return fmt::format("{} recommends the type of the GPUs: without it, Slurm chooses any type", c.site.name);
}

std::string cpus_over(const Context& c) {
  return fmt::format("{} per node {} those of node type {} ({} cores for jobs)",
                     counted(c.violation.have, "CPU"), exceeds(c.violation.have), c.violation.node->id,
                     usable_cores(*c.violation.node));
}

std::string cpus_reserved(const Context& c) {
  return fmt::format("{} per node {} those of node type {} for jobs ({} of {} cores)",
                     counted(c.violation.have, "CPU"), exceeds(c.violation.have), c.violation.node->id,
                     usable_cores(*c.violation.node), c.violation.node->cpu.cores);
}

std::string memory_over(const Context& c) {
  return fmt::format("{} of memory per node exceeds the maximum of node type {} ({})",
                     memory_text(c.violation.have), c.violation.node->id, memory_text(c.violation.limit));
}

std::string time_over(const Context& c) {
  const auto time =
      c.violation.have == 0 ? "unlimited time" : fmt::format("time limit {}", time_text(c.violation.have));
  return fmt::format("{} exceeds the maximum of {} ({})", time, c.violation.owner,
                     time_text(c.violation.limit));
}

std::string node_minutes(const Context& c) {
  return fmt::format("{} for {} {} the maximum of {} ({} node minutes)", counted(c.demand.nodes, "node"),
                     counted(c.violation.have, "minute"), exceeds(c.demand.nodes), c.violation.owner,
                     c.violation.limit);
}

std::string time_under(const Context& c) {
  return fmt::format("time limit {} is below the minimum of {} ({})", time_text(c.violation.have),
                     c.violation.owner, time_text(c.violation.limit));
}

std::string time_short(const Context& c) {
  return fmt::format("time limit {} is below the minimum that {} recommends ({})",
                     time_text(c.violation.have), c.site.name, time_text(c.violation.limit));
}

std::string option_refused(const Context& c) {
  return fmt::format("{} rejects --{}{}", c.site.name, c.violation.name, reason(c));
}

std::string option_discouraged(const Context& c) {
  return fmt::format("{} advises against --{}{}", c.site.name, c.violation.name, reason(c));
}

std::string option_ignored(const Context& c) {
  return fmt::format("{} ignores --{}{}", c.site.name, c.violation.name, reason(c));
}

std::string option_missing(const Context& c) {
  return fmt::format("{} requires --{}{}", c.site.name, c.violation.name, reason(c));
}

std::string option_on_srun(const Context& c) {
  return fmt::format("{} accepts --{} only for srun, not in a directive{}", c.site.name, c.violation.name,
                     reason(c));
}

std::string option_form(const Context& c) {
  return fmt::format("--{}={} does not have the form that {} expects{}", c.violation.name, value(c),
                     c.site.name, reason(c));
}

std::string option_suffix(const Context& c) {
  return fmt::format("--{}={} does not end with {}{}", c.violation.name, value(c), c.violation.flag->suffix,
                     reason(c));
}

std::string qos_unknown(const Context& c) {
  return fmt::format("the profile of {} has no QoS '{}'", c.site.name, c.violation.name);
}

std::string qos_elsewhere(const Context& c) {
  return fmt::format("QoS {} is for {}, not for partition {}", c.violation.name,
                     util::join(c.placement.qos->partitions, ", "), c.placement.partition()->name);
}

std::string qos_needs(const Context& c) {
  return fmt::format("QoS {} requires {}", c.placement.qos->name, c.violation.name);
}

std::string feature_unknown(const Context& c) {
  return fmt::format("the profile of {} has no feature '{}'", c.site.name, c.violation.name);
}

std::string constraint_operator(const Context& c) {
  return fmt::format("{} combines features only with '{}', not with '{}'", c.site.name,
                     util::join(c.site.constraint_operators, "' and '"), c.violation.name);
}

std::string jobs_over(const Context& c) {
  return fmt::format("{} {} the maximum of one user in {} ({} queued and running)",
                     counted(c.violation.have, "job"), exceeds(c.violation.have), c.violation.owner,
                     c.violation.limit);
}

std::string partition_on_request(const Context& c) {
  return fmt::format("partition {} is available only on request", c.violation.name);
}

std::string qos_on_request(const Context& c) {
  return fmt::format("QoS {} is available only on request", c.violation.name);
}

} // namespace text

// The names of the rows.
namespace table {

using Options = std::array<std::string_view, 5>;

constexpr auto error = diag::Severity::error;
constexpr auto warning = diag::Severity::warning;
constexpr auto note = diag::Severity::note;
constexpr auto of_rule = SeveritySource::of_rule;
constexpr auto certainty = SeveritySource::certainty;
using Step = PlanningStep;

constexpr Options k_partition = {"partition"};
constexpr Options k_nodes = {"nodes", "nodelist", "ntasks", "gpus"};
constexpr Options k_gpus = {"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"};
constexpr Options k_gpus_held = {"gres", "gpus-per-node", "gpus", "gpus-per-task"};
constexpr Options k_cpus = {"cpus-per-task", "ntasks-per-node", "mincpus", "cpus-per-gpu"};
constexpr Options k_cpu_share = {"cpus-per-task", "cpus-per-gpu", "ntasks-per-node", "ntasks"};
constexpr Options k_memory = {"mem", "mem-per-cpu", "mem-per-gpu"};
constexpr Options k_memory_share = {"mem"};
constexpr Options k_time = {"time"};
constexpr Options k_qos = {"qos"};
constexpr Options k_constraint = {"constraint"};
constexpr Options k_array = {"array"};
constexpr Options k_own = {};

// Where the profile has stand-ins for partitions that the site does not have, a rehearsal rejects their
// names.
constexpr SiteRuleRow k_rows[] = {
    {SiteRule::site_retired, "site/retired", "site/retired", Step::none, error, of_rule,
     JobFilterRejectionThreshold::none, k_own, text::site_retired, hint_of_retired},
    {SiteRule::no_scheduler, "site/no-scheduler", "request/scheduler", Step::none, error, of_rule,
     JobFilterRejectionThreshold::none, k_own, text::no_scheduler, hint_of_no_scheduler},
    {SiteRule::partition_refused, "site/partition-named", "request/partition", Step::partition, error,
     certainty, JobFilterRejectionThreshold::all, k_partition, text::partition_refused, hint_of_partition},
    {SiteRule::partition_discouraged, "site/partition-named", "request/partition", Step::partition, warning,
     certainty, JobFilterRejectionThreshold::all, k_partition, text::partition_discouraged,
     hint_of_partition},
    {SiteRule::partition_chosen, "site/partition-named", "request/partition", Step::partition, error,
     certainty, JobFilterRejectionThreshold::all, k_partition, text::partition_chosen, hint_of_partition},
    {SiteRule::partition_unknown, "site/partition-unknown", "request/partition", Step::partition, error,
     of_rule, JobFilterRejectionThreshold::none, k_partition, text::partition_name, hint_of_partition_name},
    {SiteRule::partition_not_described, "site/partition-unknown", "request/partition", Step::partition, error,
     of_rule, JobFilterRejectionThreshold::none, k_partition, text::partition_name, hint_of_partition_name},
    {SiteRule::gpus_on_cpu_nodes, "site/gpus-on-cpu-nodes", "request/gpus-per-node", Step::gpus, error,
     certainty, JobFilterRejectionThreshold::none, k_gpus, text::gpus_on_cpu_nodes, hint_of_cpu_nodes},
    {SiteRule::max_nodes_per_user, "site/nodes", "request/nodes", Step::job, error, certainty,
     JobFilterRejectionThreshold::none, k_nodes, text::max_nodes_per_user, hint_of_none},
    {SiteRule::nodes_not_connected, "site/nodes", "request/nodes", Step::job, error, certainty,
     JobFilterRejectionThreshold::none, k_nodes, text::nodes_not_connected, hint_of_nodes_not_connected},
    {SiteRule::nodes_over, "site/nodes", "request/nodes", Step::nodes, error, certainty,
     JobFilterRejectionThreshold::beyond_slurm_conf, k_nodes, text::nodes_over, hint_of_none},
    {SiteRule::nodes_of_partition, "site/nodes", "request/nodes", Step::job, error, certainty,
     JobFilterRejectionThreshold::none, k_nodes, text::nodes_of_partition, hint_of_none},
    {SiteRule::nodes_of_kind, "site/nodes", "request/nodes", Step::job, error, certainty,
     JobFilterRejectionThreshold::none, k_nodes, text::nodes_of_kind, hint_of_none},
    {SiteRule::nodes_under, "site/nodes", "request/nodes", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_nodes, text::nodes_under, hint_of_none},
    {SiteRule::gpus_of_node, "site/gpus-per-node", "request/gpus-per-node", Step::gpus, error, certainty,
     JobFilterRejectionThreshold::none, k_gpus, text::gpus_of_node, hint_of_gpus_of_node},
    {SiteRule::gpus_on_nodes, "site/gpus-per-node", "request/gpus-per-node", Step::none, error, certainty,
     JobFilterRejectionThreshold::none, k_gpus, text::gpus_on_nodes, hint_of_gpus_on_nodes},
    {SiteRule::gpu_count_not_allowed, "site/gpu-count", "request/gpus-per-node", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_gpus, text::gpu_count_not_allowed, hint_of_none},
    {SiteRule::gpus_whole_nodes, "site/gpu-count", "request/gpus-per-node", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_gpus, text::gpus_whole_nodes, hint_of_gpus_whole_nodes},
    {SiteRule::gpus_multiple, "site/gpu-count", "request/gpus-per-node", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_gpus, text::gpus_multiple, hint_of_none},
    {SiteRule::gpus_over, "site/total-gpus", "request/gpus", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_gpus, text::gpus_over, hint_of_none},
    {SiteRule::gpus_under, "site/total-gpus", "request/gpus", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_gpus, text::gpus_under, hint_of_none},
    {SiteRule::gpus_missing, "site/gpus-missing", "request/gpus-per-node", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_partition, text::gpus_missing, hint_of_gpus_missing},
    {SiteRule::gpus_idle, "site/idle-gpus", "request/gpus-per-node", Step::gpus, note, of_rule,
     JobFilterRejectionThreshold::none, k_gpus_held, text::gpus_idle, hint_of_gpus_idle},
    {SiteRule::type_unknown, "site/gpu-type", "request/gpu-type", Step::none, error, of_rule,
     JobFilterRejectionThreshold::none, k_gpus, text::type_unknown, hint_of_gpu_type},
    {SiteRule::gpu_type_required, "site/gpu-type", "request/gpu-type", Step::none, error, certainty,
     JobFilterRejectionThreshold::definite, k_gpus, text::gpu_type_required, hint_of_gpu_type},
    {SiteRule::gpu_type_recommended, "site/gpu-type", "request/gpu-type", Step::none, warning, certainty,
     JobFilterRejectionThreshold::none, k_gpus, text::gpu_type_recommended, hint_of_gpu_type},
    {SiteRule::cpus_over, "site/cpus-per-node", "request/cpus-per-task", Step::cpus, error, certainty,
     JobFilterRejectionThreshold::none, k_cpus, text::cpus_over, hint_of_cpus},
    {SiteRule::cpus_reserved, "site/cpus-per-node", "request/cpus-per-task", Step::cpus, error, certainty,
     JobFilterRejectionThreshold::none, k_cpus, text::cpus_reserved, hint_of_cpus},
    {SiteRule::cpu_share, "site/gpu-share", "request/cpus-per-task", Step::cpus, error, certainty,
     JobFilterRejectionThreshold::definite_or_likely, k_cpu_share, text::cpu_share, hint_of_cpu_share},
    {SiteRule::cpus_many, "site/gpu-share", "request/cpus-per-task", Step::cpus, warning, certainty,
     JobFilterRejectionThreshold::none, k_cpu_share, text::cpu_share, hint_of_cpu_share},
    {SiteRule::cpus_few, "site/gpu-share", "request/cpus-per-task", Step::none, warning, certainty,
     JobFilterRejectionThreshold::none, k_cpu_share, text::cpu_share, hint_of_cpu_share},
    {SiteRule::memory_over, "site/memory", "request/mem", Step::memory, error, certainty,
     JobFilterRejectionThreshold::none, k_memory, text::memory_over, hint_of_memory},
    {SiteRule::memory_share, "site/gpu-share", "request/mem", Step::names, error, certainty,
     JobFilterRejectionThreshold::definite_or_likely, k_memory_share, text::memory_share,
     hint_of_memory_share},
    {SiteRule::memory_many, "site/gpu-share", "request/mem", Step::none, warning, certainty,
     JobFilterRejectionThreshold::none, k_memory_share, text::memory_share, hint_of_memory_share},
    {SiteRule::time_over, "site/time-limit-exceeded", "request/time", Step::time, error, certainty,
     JobFilterRejectionThreshold::beyond_slurm_conf_time, k_time, text::time_over, hint_of_time},
    {SiteRule::node_minutes, "site/time-limit-exceeded", "request/time", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_time, text::node_minutes, hint_of_node_minutes},
    {SiteRule::time_under, "site/time-limit-too-short", "request/time", Step::time, error, certainty,
     JobFilterRejectionThreshold::definite, k_time, text::time_under, hint_of_short_time},
    {SiteRule::time_short, "site/time-limit-too-short", "request/time", Step::job, warning, certainty,
     JobFilterRejectionThreshold::none, k_time, text::time_short, hint_of_short_time},
    {SiteRule::option_refused, "site/option-refused", "request/", Step::options, error, certainty,
     JobFilterRejectionThreshold::all, k_own, text::option_refused, hint_of_option},
    {SiteRule::option_discouraged, "site/option-refused", "request/", Step::none, warning, certainty,
     JobFilterRejectionThreshold::none, k_own, text::option_discouraged, hint_of_option},
    {SiteRule::option_ignored, "site/option-ignored", "request/", Step::options, warning, of_rule,
     JobFilterRejectionThreshold::none, k_own, text::option_ignored, hint_of_option},
    {SiteRule::option_missing, "site/option-missing", "request/", Step::options, error, of_rule,
     JobFilterRejectionThreshold::all, k_own, text::option_missing, hint_of_missing_option},
    {SiteRule::option_on_srun, "site/option-on-srun", "request/", Step::none, error, of_rule,
     JobFilterRejectionThreshold::all, k_own, text::option_on_srun, hint_of_option},
    {SiteRule::option_form, "site/option-form", "request/", Step::none, error, certainty,
     JobFilterRejectionThreshold::all, k_own, text::option_form, hint_of_option_form},
    {SiteRule::option_suffix, "site/option-form", "request/", Step::none, error, certainty,
     JobFilterRejectionThreshold::all, k_own, text::option_suffix, hint_of_option_form},
    {SiteRule::qos_unknown, "site/qos-unknown", "request/qos", Step::names, warning, of_rule,
     JobFilterRejectionThreshold::none, k_qos, text::qos_unknown, hint_of_qos},
    {SiteRule::qos_elsewhere, "site/qos-fit", "request/qos", Step::names, error, certainty,
     JobFilterRejectionThreshold::none, k_qos, text::qos_elsewhere, hint_of_qos},
    {SiteRule::qos_needs, "site/qos-fit", "request/qos", Step::none, error, certainty,
     JobFilterRejectionThreshold::definite, k_qos, text::qos_needs, hint_of_qos},
    {SiteRule::feature_unknown, "site/constraint", "request/constraint", Step::names, warning, of_rule,
     JobFilterRejectionThreshold::none, k_constraint, text::feature_unknown, hint_of_feature},
    {SiteRule::constraint_operator, "site/constraint", "request/constraint", Step::names, warning, of_rule,
     JobFilterRejectionThreshold::none, k_constraint, text::constraint_operator, hint_of_feature},
    {SiteRule::jobs_over, "site/jobs", "request/array", Step::job, error, certainty,
     JobFilterRejectionThreshold::definite, k_array, text::jobs_over, hint_of_jobs},
    {SiteRule::partition_on_request, "site/on-request", "request/partition", Step::none, note, of_rule,
     JobFilterRejectionThreshold::none, k_partition, text::partition_on_request, hint_of_request},
    {SiteRule::qos_on_request, "site/on-request", "request/qos", Step::none, note, of_rule,
     JobFilterRejectionThreshold::none, k_qos, text::qos_on_request, hint_of_request},
};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < std::size(k_rows); ++i)
    if (static_cast<std::size_t>(k_rows[i].rule) != i) return false;
  return true;
}
static_assert(std::size(k_rows) == static_cast<std::size_t>(SiteRule::count),
              "every site rule has a row in this table");
static_assert(rows_are_in_order(), "the rows are in the order of SiteRule");

} // namespace table
} // namespace

const SiteRuleRow& row_of(SiteRule rule) { return table::k_rows[static_cast<std::size_t>(rule)]; }

std::string_view rule_id(SiteRule rule) { return row_of(rule).check_id; }

} // namespace hpcml::site_rules
