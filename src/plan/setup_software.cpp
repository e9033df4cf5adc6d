// SPDX-License-Identifier: MIT
#include "plan/setup_context.hpp"

#include <fmt/format.h>

#include "plan/environment.hpp"
#include "util/text.hpp"

namespace hpcml::plan {

namespace {

void add_setup_modules(SetupContext& context, const std::vector<std::string>& modules,
                       const model::Origin& origin) {
  for (const auto& text : modules) {
    const bool is_path = text.starts_with("use:");
    context.plan.modules.push_back({is_path ? text.substr(4) : text, is_path, origin});
  }
}

/// Downloads do not fit into a home's quota. On a login node there is no job whose variables could name the
/// place.
void place_downloads(SetupContext& context) {
  const auto& storage = context.site.storage;
  if (context.plan.squashed || context.plan.kind == SetupKind::container ||
      storage.scratch.find("$SLURM") != std::string::npos ||
      storage.scratch.find("${SLURM") != std::string::npos)
    return;
  const auto* name = context.plan.kind == SetupKind::uv ? "UV_CACHE_DIR" : "PIP_CACHE_DIR";
  if (const auto place =
          place_in_scratch(context.site, name, context.plan.kind == SetupKind::uv ? "uv" : "pip");
      !place.empty())
    context.plan.downloads.push_back({name, place, true, model::Scope::batch, storage.origin});
}

} // namespace

void add_setup_software(SetupContext& context) {
  place_downloads(context);
  context.plan.modules_reset = context.site.modules_reset.value;
  const model::Origin libtorch{model::OriginKind::site, "libtorch_modules", {}, {}, {}};
  if (context.plan.kind == SetupKind::libtorch && !context.site.libtorch_modules.empty()) {
    add_setup_modules(context, context.site.libtorch_modules, libtorch);
  } else {
    for (const auto& rule : context.site.modules)
      if (site::applies(rule.when, context.facts())) add_setup_modules(context, rule.load, rule.origin);
    if (context.recipe) add_setup_modules(context, context.recipe->modules, context.recipe->origin);
    if (context.image_rule)
      add_setup_modules(context, context.image_rule->modules, context.image_rule->origin);
    if (context.image_rule && !context.image_rule->image_variable.empty())
      add_setup_modules(context, {context.job.container->value}, context.job.container->origin);
  }
  for (const auto& module : context.job.modules) add_setup_modules(context, {module.value}, module.origin);
  if (context.recipe) {
    context.plan.base_image = context.recipe->image.base_image;
    for (const auto& other : context.recipe->origin.superseded)
      context.plan.notes.emplace_back(fmt::format("instead of {}: {}", other.value, other.why),
                                      context.recipe->origin);
  }
  if (context.plan.kind != SetupKind::libtorch) return;
  context.plan.link_directories = context.site.libtorch_link_directories;
  std::vector<std::string> archs;
  for (const auto& arch : context.nodes.target.archs)
    if (arch.starts_with("sm_")) archs.push_back(arch.substr(3, arch.size() - 4) + "." + arch.back());
  context.plan.cuda_archs = util::join(archs, ";");
}

} // namespace hpcml::plan
