// SPDX-License-Identifier: MIT
// A profile's kind of node against the node that is there. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/model/node_shape.hpp"

namespace hpcml::plan {

/// What a live node shows.
struct LiveNode {
  const model::CpuShape& cpus;
  const std::vector<model::GpuPlace>& gpus; ///< all that its drivers show; empty: none, or hidden
  model::GpuVendor gpu_vendor = model::GpuVendor::unknown;
};

/// How the node differs from what the profile says of `type`, one sentence each. What either does not tell is
/// no difference.
std::vector<std::string> profile_differences(const model::NodeType& type, const LiveNode& node);

} // namespace hpcml::plan
