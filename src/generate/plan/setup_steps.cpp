// SPDX-License-Identifier: MIT
#include "generate/plan/setup_steps.hpp"

#include <algorithm>

namespace hpcml::plan {

site_rules::JobFacts SetupWithTargetNodes::facts(SetupKind kind) const {
  site_rules::JobFacts facts;
  facts.gpus = is_for_gpus();
  facts.container = kind == SetupKind::container;
  if (job.partition) facts.partition = job.partition->value;
  if (job.gpu_type) facts.gpu_type = job.gpu_type->value;
  if (nodes.types.size() == 1) facts.node_type = nodes.types.front()->id;
  return facts;
}

bool SetupWithTargetNodes::is_module_image(SetupKind kind) const {
  if (kind != SetupKind::container || !job.container) return false;
  return !images.empty() && !images.front()->image_variable.empty();
}

} // namespace hpcml::plan
