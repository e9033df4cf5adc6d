// SPDX-License-Identifier: MIT
// Explicit CPU masks of a step.
#pragma once

#include <optional>
#include <vector>

#include "check/subject.hpp"
#include "core/model/id_set.hpp"

namespace hpcml::check {

/// What srun's --cpu-bind=mask_cpu or map_cpu gives to the tasks of a node, one after the other.
struct StepCpuMasks {
  const GivenOption* option = nullptr;
  std::vector<model::IdSet> masks;
};
/// Nothing where the step has none, or where they are not known or cannot be read.
std::optional<StepCpuMasks> masks_of(const Link& step);

/// A launch whose own step has masks.
struct LaunchWithCpuMasks {
  const Launch* launch = nullptr;
  const Link* step = nullptr;
  StepCpuMasks masks;
};
/// In the script's order; none for a step of the text around a launch.
std::vector<LaunchWithCpuMasks> masked_launches(const LintContext& subject);

/// The node type of the job; nothing without a site or where it can be one of several.
const model::NodeType* only_node(const LintContext& subject);

} // namespace hpcml::check
