// SPDX-License-Identifier: MIT
// Where a request would land on a site: its partitions, kinds of node, QoS, and the facts that the profile's rules ask for.
#pragma once

#include <string>
#include <vector>

#include "model/site.hpp"
#include "plan/when.hpp"
#include "slurm/job_size.hpp"
#include "slurm/request.hpp"

namespace hpcml::check {

/// One component of a job at a site. What the profile does not tell is empty or null: rules say nothing then.
struct SiteFit {
  std::vector<std::string> named;                    ///< partitions as the request names them
  std::vector<const model::Partition*> partitions;   ///< known ones among them; the default where none is named and Slurm has one
  std::vector<const model::NodeType*> nodes;         ///< that the partitions have, narrowed by GPU type; all of the site where it has no partitions
  const model::Qos* qos = nullptr;
  plan::JobFacts facts;                              ///< for conditional rules, with the first partition and node
};

/// What is known of the request at the site.
SiteFit fit_to_site(const slurm::Request& request, const slurm::JobSize& size, const model::Site& site);

} // namespace hpcml::check
