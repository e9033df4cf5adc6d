// SPDX-License-Identifier: MIT
// Whether a conditional rule of a profile applies to a job.
#pragma once

#include <string>

#include "model/site.hpp"

namespace hpcml::plan {

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
};
bool applies(const model::When& when, const JobFacts& facts);

} // namespace hpcml::plan
