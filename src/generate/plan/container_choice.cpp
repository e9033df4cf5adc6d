// SPDX-License-Identifier: MIT
#include "generate/plan/container_choice.hpp"

#include <algorithm>

#include "core/model/pattern.hpp"

namespace hpcml::plan {

bool is_squashed(std::string_view path) { return path.ends_with(".sqsh") || path.ends_with(".squashfs"); }

bool fits_edf(std::string_view path) { return path.find_first_of("\"\\$") == std::string_view::npos; }

ContainerRules container_rules(const model::Site& site, const model::JobSpec& job) {
  ContainerRules formed, others;
  for (const auto& rule : site.containers) {
    if (job.container_engine && job.container_engine->value != rule.engine) continue;
    if (rule.images.empty())
      others.push_back(&rule);
    else if (job.container && model::matches_pattern(job.container->value, rule.images))
      formed.push_back(&rule);
    else if (rule.image_variable.empty() && job.container_engine)
      others.push_back(&rule); // who names the engine may write the image as they like
  }
  return formed.empty() ? others : formed;
}

const model::ContainerRule* first_that_applies(const ContainerRules& rules,
                                               const site_rules::JobFacts& facts) {
  const auto found = std::find_if(rules.begin(), rules.end(),
                                  [&](const auto* rule) { return site_rules::applies(rule->when, facts); });
  return found == rules.end() ? nullptr : *found;
}

bool leaves_host(const model::JobSpec& job, const ContainerRules& rules) {
  return job.container && (rules.empty() || !model::row_of(rules.front()->engine).keeps_host);
}

} // namespace hpcml::plan
