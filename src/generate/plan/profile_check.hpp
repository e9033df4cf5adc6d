// SPDX-License-Identifier: MIT
// A profile's node type against the node that exists. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/model/node_shape.hpp"

namespace hpcml::plan {

/// What a live node shows.
struct DetectedNodeHardware {
  const model::CpuShape& cpus;
  const std::vector<model::GpuLocality>& gpus; ///< all that its drivers show; empty: none, or hidden
  model::GpuVendor gpu_vendor = model::GpuVendor::unknown;
};

/// How the node differs from what the profile says of `type`, one sentence each. What either does not state
/// is not a difference.
std::vector<std::string> profile_differences(const model::NodeType& type, const DetectedNodeHardware& node);

} // namespace hpcml::plan
