// SPDX-License-Identifier: MIT
#include "plan/setup_context.hpp"

#include <fmt/format.h>

namespace hpcml::plan {

using model::PythonWay;

namespace {

/// The first way of the site's that a script can go; what stands before it is said to be left out.
SetupKind recommended_kind(SetupContext& context) {
  for (const auto& rule : context.site.python) {
    if (rule.kind == PythonWay::module) break; // a Python in a module is what environments are made with
    const bool built = rule.kind != PythonWay::container || !rule.image.tool.empty();
    if (const auto kind = model::find_word<SetupKind>(model::word_of(rule.kind)); kind && built) return *kind;
    if (built) continue;
    context.findings.push_back(
        {diag::Severity::warning,
         "request/setup",
         fmt::format("{} recommends images{}, and its profile does not say how they are built there: this "
                     "makes a virtual environment",
                     context.site.name, rule.origin.source.empty() ? "" : " [" + rule.origin.source + "]"),
         {},
         "a ready image needs no set-up: hpcml gen --container IMAGE"});
  }
  return SetupKind::venv;
}

} // namespace

void choose_setup_kind(SetupContext& context) {
  auto kind = context.spec.kind;
  if (!kind && context.job.conda) kind = SetupKind::conda;
  if (!kind && context.job.venv && !context.site.python.empty() &&
      context.site.python.front().kind == PythonWay::uv)
    kind = SetupKind::uv;
  if (!kind && context.job.venv) kind = SetupKind::venv;
  if (!kind && context.job.container) kind = SetupKind::container;
  if (!kind) kind = recommended_kind(context);
  context.plan.kind = *kind;
  const auto name = model::word_of(context.plan.kind);
  context.recipe = context.recipe_for(model::find_word<PythonWay>(name));
  if (!context.spec.kind && context.recipe)
    context.plan.notes.emplace_back(fmt::format("{}: what the site recommends", name),
                                    context.recipe->origin);
  // Where the site has a Python of its own in a module, an environment is made with it.
  if (!context.recipe && (context.plan.kind == SetupKind::venv || context.plan.kind == SetupKind::uv))
    context.recipe = context.recipe_for(PythonWay::module);
  if (context.plan.kind == SetupKind::libtorch)
    context.recipe = context.recipe_for(PythonWay::wheelhouse) ? context.recipe_for(PythonWay::wheelhouse)
                                                               : context.recipe_for(PythonWay::venv);
  if (context.plan.kind == SetupKind::wheelhouse && !context.recipe)
    context.error("request/setup", context.site.name + " has no wheels of its own in its profile",
                  "--setup venv or --setup conda take PyTorch's");
  if (context.plan.kind == SetupKind::container && (!context.recipe || context.recipe->image.tool.empty()))
    context.error("request/setup",
                  fmt::format("the profile of {} does not say how images are built there", context.site.name),
                  "--setup venv makes an environment without an image");
  if (context.job.container && context.plan.kind != SetupKind::container) choose_setup_image(context);
}

} // namespace hpcml::plan
