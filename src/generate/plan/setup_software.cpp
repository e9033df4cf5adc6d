// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "generate/plan/environment.hpp"
#include "generate/plan/setup_steps.hpp"

namespace hpcml::plan {

namespace {

void add_setup_modules(SetupBuildEnvironment& software, const std::vector<std::string>& modules,
                       const model::Origin& origin) {
  for (const auto& text : modules) {
    const bool is_path = text.starts_with("use:");
    software.modules.push_back({is_path ? text.substr(4) : text, is_path, origin});
  }
}

/// Downloads do not fit into a home's quota. On a login node there is no job whose variables could name the
/// place.
void place_downloads(const SetupWithMethod& input, SetupBuildEnvironment& software) {
  const auto& storage = input.site.storage;
  if (input.way.squashed || input.way.kind == SetupKind::container ||
      storage.scratch.find("$SLURM") != std::string::npos ||
      storage.scratch.find("${SLURM") != std::string::npos)
    return;
  const auto* name = input.way.kind == SetupKind::uv ? "UV_CACHE_DIR" : "PIP_CACHE_DIR";
  if (const auto place = place_in_scratch(input.site, name, input.way.kind == SetupKind::uv ? "uv" : "pip");
      !place.empty())
    software.downloads.push_back({name, place, true, model::ValueScope::batch, storage.origin});
}

} // namespace

PlanStepResult<SetupBuildEnvironment> plan_setup_build_environment(const SetupWithMethod& input) {
  PlanStepResult<SetupBuildEnvironment> result;
  auto& [software, diagnostics] = result;
  const auto* recipe = input.way.recipe;
  const auto* image_rule = input.way.image_rule;
  place_downloads(input, software);
  software.modules_reset = input.site.modules_reset.value;
  const model::Origin libtorch{model::OriginKind::site, "libtorch_modules", {}, {}, {}};
  if (input.way.kind == SetupKind::libtorch && !input.site.libtorch_modules.empty()) {
    add_setup_modules(software, input.site.libtorch_modules, libtorch);
  } else {
    for (const auto& rule : input.site.modules)
      if (site_rules::applies(rule.when, input.facts())) add_setup_modules(software, rule.load, rule.origin);
    if (recipe) add_setup_modules(software, recipe->modules, recipe->origin);
    if (image_rule) add_setup_modules(software, image_rule->modules, image_rule->origin);
    if (image_rule && !image_rule->image_variable.empty())
      add_setup_modules(software, {input.job.container->value}, input.job.container->origin);
  }
  for (const auto& module : input.job.modules) add_setup_modules(software, {module.value}, module.origin);
  if (recipe) {
    software.base_image = recipe->image.base_image;
    for (const auto& replaced : recipe->origin.superseded)
      diagnostics.note(
          fmt::format("the environment is made as the profile of {} states, not with '{}', which "
                      "another source names: {}",
                      input.site.name, replaced.value, replaced.why),
          recipe->origin);
  }
  if (input.way.kind != SetupKind::libtorch) return result;
  software.link_directories = input.site.libtorch_link_directories;
  std::vector<std::string> archs;
  for (const auto& arch : input.nodes.target.archs)
    if (arch.starts_with("sm_")) archs.push_back(arch.substr(3, arch.size() - 4) + "." + arch.back());
  software.cuda_archs = util::join(archs, ";");
  return result;
}

} // namespace hpcml::plan
