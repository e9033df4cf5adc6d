// SPDX-License-Identifier: MIT
#include "plan/setup_plan.hpp"

#include "plan/setup_context.hpp"

namespace hpcml::plan {

SetupResult plan_setup(const SetupSpec& spec, const model::JobSpec& job, const model::Site& site) {
  SetupContext context{spec, job, site};
  if (job.container) context.images = container_rules(site, job);
  context.plan.site_id = site.id;
  context.plan.site_hash = site.hash;
  context.plan.request_line = spec.request_line;
  context.plan.offline_nodes = !site.network.internet_on_compute.value_or(true);
  find_setup_nodes(context);
  choose_setup_kind(context);
  choose_setup_place(context);
  read_setup_packages(context);
  choose_setup_index(context);
  add_setup_software(context);
  if (diag::has_errors(context.findings)) return {std::nullopt, std::move(context.findings)};
  return {std::move(context.plan), std::move(context.findings)};
}

} // namespace hpcml::plan
