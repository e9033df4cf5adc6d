// SPDX-License-Identifier: MIT
// Whether a conditional rule of a profile applies to a job, and which of several does.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/site.hpp"

namespace hpcml::site_rules {

/// What the rules of a profile ask about a job.
struct JobFacts {
  unsigned nodes = 1;
  bool gpus = false;
  std::string partition; ///< empty if unknown: rules for certain partitions do not apply then
  std::string launcher;
  bool container = false;
  unsigned gpu_count = 0;   ///< of the whole job
  bool whole_nodes = false; ///< all GPUs of its nodes, or the nodes to itself
  std::string node_type = {};
  std::string gpu_type = {};
  std::string qos = {};
  std::string image = {}; ///< container image as the job names it; empty if there is none or it is unknown
};
/// True if everything that `when` demands holds.
bool applies(const model::RuleCondition& when, const JobFacts& facts);

/// Of a rule and those after it (`more`) the first that holds for the job; none where no one does.
template <class Rule> const Rule* first_that_holds(const Rule& rule, const JobFacts& facts) {
  if (applies(rule.when, facts)) return &rule;
  for (const Rule& alternative : rule.more)
    if (applies(alternative.when, facts)) return &alternative;
  return nullptr;
}

/// What the facts follow from: the planner takes it from the request, launch from the script's flags and the
/// live node.
struct JobFactsInput {
  unsigned nodes = 1;
  unsigned gpus_per_node = 0;
  std::string partition;
  std::string launcher;
  bool container = false;
  std::string node_type; ///< empty if unknown
  std::string gpu_type;  ///< a MIG instance, or a type that the profile does not know; empty: the node type's
  std::string qos;
  bool owns_nodes = false;       ///< known from elsewhere than the partition
  std::string image;             ///< container image; empty if there is none or it is unknown
  std::uint64_t gpus_in_all = 0; ///< where they are counted for the whole job; 0: as many on each node
};
/// The facts of a job; GPU type and whole nodes follow from the site.
JobFacts make_facts(const model::Site& site, const JobFactsInput& job);

/// The site's rule for an option ("mem") where it holds for the job, else one that allows everything.
const model::SbatchOptionRule& sbatch_option_rule(const model::Site& site, const std::string& option,
                                                  const JobFacts& facts);
/// How GPUs are asked for in the job.
const model::GpuRequestRule& gpu_rule(const model::Site& site, const JobFacts& facts);

} // namespace hpcml::site_rules
