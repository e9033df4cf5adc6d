// SPDX-License-Identifier: MIT
// The rules of a site that a job violates, one result for each, as numbers and names. The callers write the
// messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/site.hpp"
#include "core/site_rules/placement.hpp"

namespace hpcml::site_rules {

/// How certain a violation is. `definite`: the job is rejected or never starts; `likely`: unless the site has
/// more than its profile, or counts differently; `advisory`: the job is accepted, but could be better.
enum class Confidence { definite, likely, advisory };

/// What is evaluated. The comment says what `have` and `limit` are, and what `name` is.
enum class SiteRule {
  site_retired,
  no_scheduler,
  partition_refused,       ///< jobs may name none
  partition_discouraged,   ///< the site asks to name none
  partition_chosen,        ///< NAME is one that only Slurm may choose
  partition_unknown,       ///< NAME; advisory: groups have partitions with such names
  partition_not_described, ///< NAME of one that exists, of which the profile has nothing more
  gpus_on_cpu_nodes,       ///< GPUs of one node
  max_nodes_per_user,      ///< nodes
  nodes_not_connected,     ///< nodes, which no network joins
  nodes_over,              ///< nodes: the limit of partition or QoS
  nodes_of_partition,      ///< nodes: those that it has
  nodes_of_kind,           ///< nodes: those of this kind
  nodes_under,             ///< nodes
  gpus_of_node,            ///< GPUs of one node
  gpus_on_nodes,           ///< GPUs in total, and of one node
  gpu_count_not_allowed,   ///< GPUs of one node; the counts are the rule's
  gpus_whole_nodes,        ///< GPUs of one node
  gpus_multiple,           ///< GPUs in total
  gpus_over,               ///< GPUs in total
  gpus_under,              ///< GPUs in total
  gpus_missing,            ///< the job has none
  gpus_idle,               ///< GPUs of one node
  type_unknown,            ///< NAME
  gpu_type_required,       ///< the site requires it named
  gpu_type_recommended,    ///< the site advises to name it, and accepts jobs without it
  cpus_over,               ///< CPUs of one node
  cpus_reserved,           ///< CPUs of one node: the system's are among them
  cpu_share,               ///< CPUs and the share of the GPUs: the site gives no other
  cpus_many,               ///< the same: more may wait longer
  cpus_few,                ///< the same
  memory_over,             ///< MiB of one node
  memory_share,            ///< MiB and the share of the GPUs: the site gives no other
  memory_many,             ///< the same: more may wait longer
  time_over,               ///< seconds; have 0: no limit was asked for
  node_minutes,            ///< minutes of the job, and node minutes
  time_under,              ///< seconds
  time_short,              ///< seconds: what the site recommends
  option_refused,          ///< NAME of an option, here and below
  option_discouraged,      ///< the site asks to omit it
  option_ignored,
  option_missing,
  option_on_srun,
  option_form,
  option_suffix,
  qos_unknown,          ///< NAME
  qos_elsewhere,        ///< NAME is for other partitions
  qos_needs,            ///< NAME is the option
  feature_unknown,      ///< NAME
  constraint_operator,  ///< NAME is the sign
  jobs_over,            ///< tasks of an array: those that one user may have in the queue
  partition_on_request, ///< NAME
  qos_on_request,       ///< NAME
  count                 ///< number of rules; each has a row in site_rule_table.cpp
};

/// The id of the rule of `hpcml check` that describes it: "site/nodes".
std::string_view rule_id(SiteRule rule);

/// One rule that the job breaks.
struct PolicyViolation {
  SiteRule rule;
  Confidence certainty = Confidence::definite;
  std::string name = {};
  unsigned long long have = 0;
  unsigned long long limit = 0;
  std::string owner = {}; ///< whose limit it is: "partition gpu", "QoS long", the site
  model::Origin origin = {};
  const model::NodeType* node = nullptr;          ///< the kind that the numbers are of
  const model::SbatchOptionRule* flag = nullptr;  ///< of options
  const model::GpuRequestRule* request = nullptr; ///< of GPUs
  bool reservable = false;                        ///< the job is in a reservation, which may allow it
};
using PolicyViolations = std::vector<PolicyViolation>;

/// Why the site takes no jobs at all; nothing where it takes some.
std::optional<SiteRule> unavailable_reason(const model::Site& site);

/// What is to be reported of the name of a partition that the profile does not describe; nothing where it
/// does.
std::optional<PolicyViolation> evaluate_partition_name(const model::Site& site, const std::string& name);

/// All that the site says to the job at its place; nothing where it goes elsewhere.
PolicyViolations evaluate_policy(const model::Site& site, const ResolvedPlacement& placement,
                                 const ResourceRequest& demand);

} // namespace hpcml::site_rules
