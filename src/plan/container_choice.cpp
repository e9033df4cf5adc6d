// SPDX-License-Identifier: MIT
#include "plan/container_choice.hpp"

#include <algorithm>

#include "model/pattern.hpp"
#include "util/text.hpp"

namespace hpcml::plan {

bool is_squashed(std::string_view path) { return util::ends_with(path, ".sqsh") || util::ends_with(path, ".squashfs"); }

std::vector<std::string> engine_names(const model::Site& site) {
  std::vector<std::string> names;
  for (const auto& rule : site.containers)
    if (const auto name = model::word_of(rule.engine); std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::vector<const model::ContainerRule*> container_rules(const model::Site& site, const model::JobSpec& job) {
  std::vector<const model::ContainerRule*> formed, others;
  for (const auto& rule : site.containers) {
    if (job.container_engine && job.container_engine->value != rule.engine) continue;
    if (rule.images.empty()) others.push_back(&rule);
    else if (job.container && model::matches_pattern(job.container->value, rule.images)) formed.push_back(&rule);
    else if (rule.image_variable.empty() && job.container_engine) others.push_back(&rule); // who names the engine may write the image as they like
  }
  return formed.empty() ? others : formed;
}

const model::ContainerRule* find_container_rule(const model::Site& site, const model::JobSpec& job, const JobFacts& facts) {
  for (const auto* rule : container_rules(site, job))
    if (applies(rule->when, facts)) return rule;
  return nullptr;
}

bool leaves_host(const model::Site& site, const model::JobSpec& job) {
  if (!job.container) return false;
  const auto rules = container_rules(site, job);
  return rules.empty() || !model::keeps_host(rules.front()->engine);
}

} // namespace hpcml::plan
