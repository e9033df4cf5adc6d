// SPDX-License-Identifier: MIT
// The hints of the site rules, for the rows of site_rule_table.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/site_rules/site_rule_table.hpp"

namespace hpcml::site_rules {

/// Returns the names of the partitions that have a node with this many GPUs, each once.
std::string partitions_with_gpus(const model::Site& site, unsigned long long gpus);

/// The size of a job and how long it runs.
struct TimedJob {
  unsigned nodes = 0;
  unsigned gpus = 0; ///< of all nodes
  model::Walltime time;
};

/// Returns the names of the partitions that allow the job, with their time limits. `node`: those that have
/// such nodes; null: all.
std::string partitions_that_allow(const model::Site& site, const model::NodeType* node, const TimedJob& job);

// Each returns the hint of the rules of its name.
std::string hint_of_none(const ViolationContext& context, OptionForm form);
std::string hint_of_retired(const ViolationContext& context, OptionForm form);
std::string hint_of_partition(const ViolationContext& context, OptionForm form);
std::string hint_of_partition_name(const ViolationContext& context, OptionForm form);
std::string hint_of_no_scheduler(const ViolationContext& context, OptionForm form);
std::string hint_of_nodes_not_connected(const ViolationContext& context, OptionForm form);
std::string hint_of_gpus_whole_nodes(const ViolationContext& context, OptionForm form);
std::string hint_of_gpus_idle(const ViolationContext& context, OptionForm form);
std::string hint_of_cpu_nodes(const ViolationContext& context, OptionForm form);
std::string hint_of_gpus_of_node(const ViolationContext& context, OptionForm form);
std::string hint_of_gpus_on_nodes(const ViolationContext& context, OptionForm form);
std::string hint_of_gpus_missing(const ViolationContext& context, OptionForm form);
std::string hint_of_gpu_type(const ViolationContext& context, OptionForm form);
std::string hint_of_cpus(const ViolationContext& context, OptionForm form);
std::string hint_of_cpu_share(const ViolationContext& context, OptionForm form);
std::string hint_of_memory(const ViolationContext& context, OptionForm form);
std::string hint_of_memory_share(const ViolationContext& context, OptionForm form);
std::string hint_of_time(const ViolationContext& context, OptionForm form);
std::string hint_of_short_time(const ViolationContext& context, OptionForm form);
std::string hint_of_node_minutes(const ViolationContext& context, OptionForm form);
std::string hint_of_option(const ViolationContext& context, OptionForm form);
std::string hint_of_missing_option(const ViolationContext& context, OptionForm form);
std::string hint_of_option_form(const ViolationContext& context, OptionForm form);
std::string hint_of_qos(const ViolationContext& context, OptionForm form);
std::string hint_of_feature(const ViolationContext& context, OptionForm form);
std::string hint_of_jobs(const ViolationContext& context, OptionForm form);
std::string hint_of_request(const ViolationContext& context, OptionForm form);

} // namespace hpcml::site_rules
