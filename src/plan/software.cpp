// SPDX-License-Identifier: MIT
// Modules and the Python environment.
#include <algorithm>

#include "plan/command_words.hpp"
#include "plan/environment.hpp"
#include "plan/option_word.hpp"
#include "plan/plan_context.hpp"
#include "plan/requirements.hpp"
#include "plan/staging.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::PythonKind;
using model::PythonWay;

const model::PythonRule* find_recipe(const PlanContext& context, PythonWay kind) {
  for (const auto& rule : context.site.python)
    if (rule.kind == kind && site::applies(rule.when, context.facts())) return &rule;
  return nullptr;
}

void add_modules(PlanContext& context, const std::vector<std::string>& modules, const model::Origin& origin) {
  for (const auto& module : modules) add_module(context, module, origin);
}

/// What a site without wheels of its own takes instead.
std::string other_environments(const PlanContext& context) {
  const model::Site& site = context.site;
  std::string text = "make the environment once, where all nodes see it, and use --venv PATH";
  if (find_recipe(context, PythonWay::conda)) text += " or --conda NAME";
  return site.containers.empty() ? text : text + ", or take an image that has it: --container IMAGE";
}

void plan_wheelhouse(PlanContext& context, const std::vector<std::string>& packages,
                     const model::Origin& origin) {
  const model::PythonRule* recipe = find_recipe(context, PythonWay::wheelhouse);
  if (!recipe) {
    context.error("request/wheelhouse",
                  context.site.name + " has no wheels of its own in its profile to build an environment from",
                  other_environments(context));
    return;
  }
  std::string where = recipe->where;
  if (where.empty() && context.node() && context.node()->local_disk) where = *context.node()->local_disk;
  if (where.empty()) {
    context.error("request/wheelhouse",
                  context.site.name + " has no node-local storage in its profile for an environment per node",
                  other_environments(context));
    return;
  }
  // Slurm's folder is the job's alone and goes away by itself. A requeued job must not find its first
  // environment.
  const bool by_slurm = is_by_slurm(where);
  context.plan.python = {PythonKind::wheelhouse,
                         by_slurm ? where + "/env" : job_folder(where, "${SLURM_RESTART_COUNT:-0}-env"),
                         packages, origin, !by_slurm};
  add_modules(context, recipe->modules, recipe->origin);
}

/// An environment of the host wants the host's modules; one inside an image has the image.
void add_host_modules(PlanContext& context, PythonWay kind) {
  const auto* recipe = find_recipe(context, kind);
  if (recipe && !context.job.container) add_modules(context, recipe->modules, recipe->origin);
}

/// An environment by name or path; an archive of one (conda-pack, venv-pack) is unpacked on each node.
void plan_environment_of(PlanContext& context, PythonKind kind, PythonWay way,
                         const model::Sourced<std::string>& given) {
  context.plan.python = is_archive(given.value)
                            ? model::PlannedPython{PythonKind::packed, {}, {given.value}, given.origin}
                            : model::PlannedPython{kind, given.value, {}, given.origin};
  add_host_modules(context, way);
}

/// What the site recommends for a Python program when the request names no environment.
void plan_default_python(PlanContext& context) {
  for (const auto& rule : context.site.python) {
    if (!site::applies(rule.when, context.facts())) continue;
    if (rule.kind == PythonWay::wheelhouse && !rule.packages.empty())
      return plan_wheelhouse(context, rule.packages, rule.origin);
    if (rule.kind == PythonWay::conda && !rule.conda_env.empty())
      context.plan.python = {PythonKind::conda, rule.conda_env, {}, rule.origin};
    else if (rule.kind != PythonWay::module)
      continue;
    return add_modules(context, rule.modules, rule.origin);
  }
  context.note("no Python environment named: the job runs with the python it finds in PATH; --venv, --conda "
               "or --container choose one",
               by_rule("the site has no environment for everybody"));
}

void plan_python(PlanContext& context) {
  const model::JobSpec& job = context.job;
  const int given = job.venv.has_value() + job.conda.has_value() + job.wheelhouse.has_value();
  if (given > 1)
    context.error("usage/python", "--venv, --conda and --wheelhouse exclude each other", "keep one of them");
  for (const auto* text : {&job.venv, &job.conda})
    if (*text && ((*text)->value.empty() || !is_one_line((*text)->value)))
      context.error("usage/python", "an environment's name or path is one line of text");
  if (job.venv) {
    plan_environment_of(context, PythonKind::venv, PythonWay::venv, *job.venv);
  } else if (job.conda) {
    plan_environment_of(context, PythonKind::conda, PythonWay::conda, *job.conda);
  } else if (job.wheelhouse && job.container) {
    context.error("usage/wheelhouse",
                  "--wheelhouse builds an environment for the host, --container does without the host's",
                  "keep one of them; an environment that was made inside the image comes with --venv PATH");
  } else if (job.wheelhouse) {
    plan_wheelhouse(context, requirement_words(job.wheelhouse->value, "--wheelhouse", context.findings),
                    job.wheelhouse->origin);
  } else if (is_python(job.command) && !job.container && !(job.body && job.body->own_environment)) {
    plan_default_python(context);
  }
}

/// The ranks start hpcml by this path, wherever they are.
void check_hpcml_path(PlanContext& context) {
  const auto& path = context.plan.hpcml_path.value;
  if (context.plan.launcher.choice.is_hpcml() && !path.empty() && path.front() != '/')
    context.error("usage/hpcml-path", "'" + path + "' is no absolute path",
                  "the path that the compute nodes see, as --hpcml-path /project/me/bin/hpcml");
}

} // namespace

void add_module(PlanContext& context, const std::string& text, const model::Origin& origin) {
  const bool is_path = util::starts_with(text, "use:");
  const std::string name = is_path ? text.substr(4) : text;
  if (name.empty() || name.front() == '-' || !is_one_line(name) || name.find(' ') != std::string::npos) {
    context.error("usage/module", "'" + text + "' is no module name",
                  "one module each, as --module gcc/13; a folder of modules as use:/path");
    return;
  }
  auto& modules = context.plan.modules;
  if (std::none_of(modules.begin(), modules.end(),
                   [&](const auto& m) { return m.name == name && m.is_path == is_path; }))
    modules.push_back({name, is_path, origin});
}

void plan_software(PlanContext& context) {
  check_hpcml_path(context);
  context.plan.modules_reset = context.site.modules_reset;
  for (const auto& rule : context.site.modules)
    if (site::applies(rule.when, context.facts())) add_modules(context, rule.load, rule.origin);
  plan_python(context);
  const model::Origin libtorch{model::OriginKind::site, "libtorch_modules", {}, {}, {}};
  if (!context.job.container && !context.job.command.empty() && !is_python(context.job.command))
    add_modules(context, context.site.libtorch_modules, libtorch);
  for (const auto& module : context.job.modules) add_module(context, module.value, module.origin);
}

} // namespace hpcml::plan
