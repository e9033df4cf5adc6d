// SPDX-License-Identifier: MIT
// Conditions of profile rules.
#include "core/site_rules/facts.hpp"

#include <algorithm>
#include <limits>

#include "core/model/pattern.hpp"

namespace hpcml::site_rules {

bool applies(const model::RuleCondition& when, const JobFacts& facts) {
  const auto lists = [](const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  return (!when.min_nodes || facts.nodes >= *when.min_nodes) &&
         (!when.max_nodes || facts.nodes <= *when.max_nodes) && (!when.gpus || *when.gpus == facts.gpus) &&
         (!when.container || *when.container == facts.container) && lists(when.partitions, facts.partition) &&
         lists(when.launchers, facts.launcher) && (!when.min_gpus || facts.gpu_count >= *when.min_gpus) &&
         (!when.max_gpus || facts.gpu_count <= *when.max_gpus) &&
         (!when.whole_nodes || *when.whole_nodes == facts.whole_nodes) &&
         lists(when.node_types, facts.node_type) && lists(when.gpu_types, facts.gpu_type) &&
         lists(when.qos, facts.qos) &&
         (when.image.empty() || model::matches_pattern(facts.image, when.image));
}

JobFacts make_facts(const model::Site& site, const JobFactsInput& job) {
  JobFacts facts{job.nodes, job.gpus_per_node > 0, job.partition, job.launcher, job.container};
  // A number that nodes share unevenly is not a multiple of what one of them has.
  const std::uint64_t evenly = std::uint64_t{job.nodes} * job.gpus_per_node;
  const std::uint64_t all = job.gpus_in_all > 0 ? job.gpus_in_all : evenly;
  facts.gpu_count = static_cast<unsigned>(std::min<std::uint64_t>(all, std::numeric_limits<unsigned>::max()));
  facts.node_type = job.node_type;
  facts.gpu_type = job.gpu_type;
  facts.qos = job.qos;
  facts.image = job.image;
  const auto* partition = site.find_partition(job.partition);
  const auto* node = site.find_node_type(job.node_type);
  bool all_gpus = false;
  if (node && node->gpu) {
    const auto& slices = node->gpu->slices;
    const bool slice = std::any_of(slices.begin(), slices.end(),
                                   [&](const auto& part) { return part.name == job.gpu_type; });
    all_gpus = !slice && job.gpus_per_node == node->gpu->per_node;
    if (facts.gpu_type.empty()) facts.gpu_type = node->gpu->slurm_type;
  }
  facts.whole_nodes = job.owns_nodes || (partition && partition->exclusive) || all_gpus;
  return facts;
}

const model::SbatchOptionRule& sbatch_option_rule(const model::Site& site, const std::string& option,
                                                  const JobFacts& facts) {
  static const model::SbatchOptionRule k_free;
  const auto* rule = first_that_holds(site.flag(option), facts);
  return rule ? *rule : k_free;
}

const model::GpuRequestRule& gpu_rule(const model::Site& site, const JobFacts& facts) {
  const auto* rule = first_that_holds(site.gpu_request, facts);
  return rule ? *rule : site.gpu_request;
}

} // namespace hpcml::site_rules
