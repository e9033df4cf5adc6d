// SPDX-License-Identifier: MIT
// plan_setup: the steps in their order.
#include "generate/plan/setup_plan.hpp"

#include "generate/plan/setup_steps.hpp"

namespace hpcml::plan {

SetupResult plan_setup(const SetupOptions& spec, const model::JobSpec& job, const model::Site& site) {
  PlanStepDiagnostics diagnostics;
  const SetupRequest request{spec, job, site, job.container ? container_rules(site, job) : ContainerRules{}};
  const auto nodes = unwrap(find_setup_nodes(request), diagnostics);
  const SetupWithTargetNodes on_nodes(request, nodes);
  const auto way = unwrap(choose_setup_method(on_nodes), diagnostics);
  const SetupWithMethod by_way(on_nodes, way);
  auto place = unwrap(choose_environment_path(by_way), diagnostics);
  auto packages = unwrap(read_setup_packages(by_way), diagnostics);
  auto index = unwrap(choose_setup_index(by_way, place), diagnostics);
  auto software = unwrap(plan_setup_build_environment(by_way), diagnostics);
  if (diagnostics.refuse()) return {std::nullopt, std::move(diagnostics.findings)};
  SetupPlan plan;
  plan.kind = way.kind;
  plan.site_id = site.id;
  plan.site_hash = site.hash;
  plan.place = std::move(place.place);
  plan.place_expression = place.expression;
  plan.modules_reset = software.modules_reset;
  plan.modules = std::move(software.modules);
  plan.torch_packages = std::move(packages.torch);
  plan.packages = std::move(packages.pip_words);
  plan.has_torch = packages.has_torch;
  plan.python = std::move(index.python);
  plan.index = std::move(index.index);
  plan.index_reason = std::move(index.reason);
  plan.list_wheels = std::move(index.list_wheels);
  plan.base_image = std::move(software.base_image);
  plan.easyconfig = std::move(place.easyconfig);
  plan.squashed = way.squashed;
  plan.node_arch = nodes.target.cpu_arch;
  plan.offline_nodes = request.is_offline();
  plan.link_directories = std::move(software.link_directories);
  plan.cuda_archs = std::move(software.cuda_archs);
  plan.request_line = spec.request_line;
  plan.pack = std::move(place.pack);
  plan.downloads = std::move(software.downloads);
  plan.use = std::move(place.use);
  plan.notes = std::move(diagnostics.notes);
  return {std::move(plan), std::move(diagnostics.findings)};
}

} // namespace hpcml::plan
