// SPDX-License-Identifier: MIT
// What holds for the job so far, and the site's rules that follow from it.
#include "plan/plan_context.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::plan {

site::JobFacts PlanContext::facts() const {
  const model::PlannedLayout& layout = plan.layout;
  const auto* place = partition();
  return site::make_facts(site, {layout.nodes, layout.gpus_per_node, place ? place->name : plan.partition,
                                 plan.launcher.choice.name(), leaves_host(job, images), plan.node_type,
                                 plan.gpu_type, plan.qos, placement.owner});
}

const model::FlagRule& PlanContext::flag(const std::string& name) const {
  return site::flag_rule(site, name, facts());
}

const model::GpuRequest& PlanContext::gpu_request() const { return site::gpu_rule(site, facts()); }

bool PlanContext::gpus_by_task() const {
  return gpu_request().style == model::GpuStyle::gpus_per_task && plan.layout.gpus_per_node > 0 &&
         plan.layout.tasks_per_node > 1;
}

bool PlanContext::has_directive(const std::string& name) const {
  return std::any_of(plan.directives.begin(), plan.directives.end(),
                     [&](const auto& d) { return d.name == name; });
}

std::string with_job_numbers(const PlanContext& context, std::string text) {
  const model::PlannedLayout& layout = context.plan.layout;
  const std::pair<const char*, unsigned> numbers[] = {
      {"{nodes}", layout.nodes},
      {"{tasks}", layout.nodes * layout.tasks_per_node},
      {"{tasks_per_node}", layout.tasks_per_node},
      {"{gpus_per_node}", layout.gpus_per_node},
      {"{gpus_per_task}", layout.gpus_per_rank},
      {"{cpus_per_task}", layout.cpus_per_rank},
  };
  for (const auto& [name, number] : numbers)
    text = util::replace_all(std::move(text), name, std::to_string(number));
  return text;
}

} // namespace hpcml::plan
