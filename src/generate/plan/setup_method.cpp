// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "generate/plan/setup_steps.hpp"

namespace hpcml::plan {

using model::PythonPackageSource;

namespace {

/// The first way of the site's that a script can go; what is before it is reported to be omitted.
SetupKind recommended_kind(const model::Site& site, PlanStepDiagnostics& diagnostics) {
  for (const auto& rule : site.python) {
    if (rule.kind == PythonPackageSource::module)
      break; // a Python in a module is what environments are made with
    const bool built = rule.kind != PythonPackageSource::container || !rule.image.tool.empty();
    if (const auto kind = model::find_word<SetupKind>(model::word_of(rule.kind)); kind && built) return *kind;
    if (built) continue;
    diagnostics.warning("request/setup",
                        fmt::format("{} recommends images{}, but its profile does not state how they are "
                                    "built: hpcml env makes an environment without an image",
                                    site.name,
                                    rule.origin.source.empty() ? "" : " [" + rule.origin.source.text() + "]"),
                        "use hpcml gen --container IMAGE for a ready image, which needs no set-up");
  }
  return SetupKind::venv;
}

SetupKind kind_of(const SetupWithTargetNodes& input, PlanStepDiagnostics& diagnostics) {
  if (input.spec.kind) return *input.spec.kind;
  if (input.job.conda) return SetupKind::conda;
  if (input.job.venv) {
    const auto& ways = input.site.python;
    return !ways.empty() && ways.front().kind == PythonPackageSource::uv ? SetupKind::uv : SetupKind::venv;
  }
  if (input.job.container) return SetupKind::container;
  return recommended_kind(input.site, diagnostics);
}

/// The site's first recipe of that way for these nodes.
const model::PythonPackageRule* find_recipe(const SetupWithTargetNodes& input, SetupKind kind,
                                            std::optional<PythonPackageSource> way) {
  const auto facts = input.facts(kind);
  for (const auto& rule : input.site.python)
    if (rule.kind == way && site_rules::applies(rule.when, facts) &&
        (rule.image.tool == "easybuild") == input.is_module_image(kind))
      return &rule;
  return nullptr;
}

} // namespace

PlanStepResult<SetupMethod> choose_setup_method(const SetupWithTargetNodes& input) {
  PlanStepResult<SetupMethod> result;
  auto& [way, diagnostics] = result;
  const auto kind = kind_of(input, diagnostics);
  const auto recipe_for = [&](std::optional<PythonPackageSource> of) { return find_recipe(input, kind, of); };
  const auto name = model::word_of(kind);
  way.kind = kind;
  way.recipe = recipe_for(model::find_word<PythonPackageSource>(name));
  if (!input.spec.kind && way.recipe)
    diagnostics.note(
        fmt::format("this environment is of the kind {}, which {} recommends; hpcml env KIND makes another",
                    name, input.site.name),
        way.recipe->origin);
  // Where the site has its own Python in a module, an environment is made with it.
  if (!way.recipe && (kind == SetupKind::venv || kind == SetupKind::uv))
    way.recipe = recipe_for(PythonPackageSource::module);
  if (kind == SetupKind::libtorch) {
    const auto* wheels = recipe_for(PythonPackageSource::wheelhouse);
    way.recipe = wheels ? wheels : recipe_for(PythonPackageSource::venv);
  }
  if (kind == SetupKind::wheelhouse && !way.recipe)
    diagnostics.error("request/setup",
                      fmt::format("hpcml env wheelhouse cannot be used: the profile of {} has no site wheels",
                                  input.site.name),
                      "use hpcml env venv or hpcml env conda, which install the wheels of PyTorch");
  if (kind == SetupKind::container && (!way.recipe || way.recipe->image.tool.empty()))
    diagnostics.error(
        "request/setup",
        fmt::format("hpcml cannot build an image: the profile of {} does not state how images are built",
                    input.site.name),
        "use hpcml env venv for an environment without an image");
  if (!input.job.container || kind == SetupKind::container) return result;
  auto on_image = choose_setup_image(input, kind);
  add(diagnostics, std::move(on_image.remarks));
  if (!on_image.value.image_rule)
    on_image.value.recipe = way.recipe; // refused: what else is wrong is reported as well
  way = std::move(on_image.value);
  return result;
}

} // namespace hpcml::plan
