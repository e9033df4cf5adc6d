// SPDX-License-Identifier: MIT
// A request as `scontrol show job` would print the job: the fields that a measured case can hold.
#pragma once

#include <map>
#include <string>

#include "admission.hpp"

namespace hpcml::agree {

using Fields = std::map<std::string, std::string>;

/// Fields that differ from the measured cluster's defaults, in `version`'s own spelling; `component` counts
/// from 0.
Fields job_fields(const slurm::JobOptions& request, const slurm::JobSize& size,
                  const slurm::ClusterFacts& cluster, slurm::Version version, unsigned component);

} // namespace hpcml::agree
