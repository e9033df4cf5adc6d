// SPDX-License-Identifier: MIT
#include "plan/setup_context.hpp"

#include <algorithm>

namespace hpcml::plan {

site::JobFacts SetupContext::facts() const {
  site::JobFacts facts;
  facts.gpus = is_for_gpus();
  facts.container = plan.kind == SetupKind::container;
  if (job.partition) facts.partition = job.partition->value;
  if (job.gpu_type) facts.gpu_type = job.gpu_type->value;
  if (nodes.types.size() == 1) facts.node_type = nodes.types.front()->id;
  return facts;
}

bool SetupContext::is_module_image() const {
  if (plan.kind != SetupKind::container || !job.container) return false;
  return !images.empty() && !images.front()->image_variable.empty();
}

const model::PythonRule* SetupContext::recipe_for(std::optional<model::PythonWay> kind) const {
  for (const auto& rule : site.python)
    if (rule.kind == kind && site::applies(rule.when, facts()) &&
        (rule.image.tool == "easybuild") == is_module_image())
      return &rule;
  return nullptr;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

} // namespace hpcml::plan
