// SPDX-License-Identifier: MIT
#include "generate/plan/software.hpp"

#include <algorithm>

#include "core/util/one_line.hpp"
#include "core/util/text.hpp"
#include "generate/plan/environment.hpp"
#include "generate/plan/requirements.hpp"
#include "generate/plan/staging.hpp"
#include "generate/plan/user_command.hpp"

namespace hpcml::plan {
namespace {

using model::PythonKind;
using model::PythonSource;

const model::PythonRule* find_recipe(const LayoutInput& input, PythonSource kind) {
  for (const auto& rule : input.site.python)
    if (rule.kind == kind && input.applies(rule.when)) return &rule;
  return nullptr;
}

void add_modules(StepResult<Software>& result, const std::vector<std::string>& modules,
                 const model::Origin& origin) {
  for (const auto& module : modules) add_module(result, module, origin);
}

/// What a site without wheels of its own takes instead.
std::string other_environments(const LayoutInput& input) {
  const model::Site& site = input.site;
  std::string text = "make the environment once, where all nodes see it, and use --venv PATH";
  if (find_recipe(input, PythonSource::conda)) text += " or --conda NAME";
  return site.containers.empty() ? text : text + ", or take an image that has it: --container IMAGE";
}

void plan_wheelhouse(const LaunchInput& input, StepResult<Software>& result,
                     const std::vector<std::string>& packages, const model::Origin& origin) {
  const model::PythonRule* recipe = find_recipe(input, PythonSource::wheelhouse);
  if (!recipe) {
    result.remarks.error("request/wheelhouse",
                         input.site.name +
                             " has no wheels of its own in its profile to build an environment from",
                         other_environments(input));
    return;
  }
  std::string where = recipe->where;
  if (where.empty() && input.node() && input.node()->local_disk) where = *input.node()->local_disk;
  if (where.empty()) {
    result.remarks.error("request/wheelhouse",
                         input.site.name +
                             " has no node-local storage in its profile for an environment per node",
                         other_environments(input));
    return;
  }
  // Slurm's folder is the job's alone and goes away by itself. A requeued job must not find its first
  // environment.
  const bool by_slurm = is_by_slurm(where);
  result.value.python = {PythonKind::wheelhouse,
                         by_slurm ? where + "/env" : job_directory(input.numbers(), where, "env"), packages,
                         origin, !by_slurm};
  add_modules(result, recipe->modules, recipe->origin);
}

/// An environment of the host wants the host's modules; one inside an image has the image.
void add_host_modules(const LaunchInput& input, StepResult<Software>& result, PythonSource kind) {
  const auto* recipe = find_recipe(input, kind);
  if (recipe && !input.job.container) add_modules(result, recipe->modules, recipe->origin);
}

/// An environment by name or path; an archive of one (conda-pack, venv-pack) is unpacked on each node.
void plan_environment_of(const LaunchInput& input, StepResult<Software>& result, PythonKind kind,
                         PythonSource way, const model::Sourced<std::string>& environment) {
  result.value.python =
      is_archive(environment.value)
          ? model::PlannedPython{PythonKind::packed, {}, {environment.value}, environment.origin}
          : model::PlannedPython{kind, environment.value, {}, environment.origin};
  add_host_modules(input, result, way);
}

/// What the site recommends for a Python program when the request names no environment.
void plan_default_python(const LaunchInput& input, StepResult<Software>& result) {
  for (const auto& rule : input.site.python) {
    if (!input.applies(rule.when)) continue;
    if (rule.kind == PythonSource::wheelhouse && !rule.packages.empty())
      return plan_wheelhouse(input, result, rule.packages, rule.origin);
    if (rule.kind == PythonSource::conda && !rule.conda_env.empty())
      result.value.python = {PythonKind::conda, rule.conda_env, {}, rule.origin};
    else if (rule.kind != PythonSource::module)
      continue;
    return add_modules(result, rule.modules, rule.origin);
  }
  result.remarks.note(
      "no Python environment named: the job runs with the python it finds in PATH; --venv, --conda "
      "or --container choose one",
      rule_origin("the site has no environment for everybody"));
}

void plan_python(const LaunchInput& input, StepResult<Software>& result) {
  const model::JobSpec& job = input.job;
  const int named = job.venv.has_value() + job.conda.has_value() + job.wheelhouse.has_value();
  if (named > 1)
    result.remarks.error("usage/python", "--venv, --conda and --wheelhouse exclude each other",
                         "keep one of them");
  for (const auto* text : {&job.venv, &job.conda})
    if (*text && ((*text)->value.empty() || !util::is_one_line((*text)->value)))
      result.remarks.error("usage/python", "an environment's name or path is one line of text");
  if (job.venv) {
    plan_environment_of(input, result, PythonKind::venv, PythonSource::venv, *job.venv);
  } else if (job.conda) {
    plan_environment_of(input, result, PythonKind::conda, PythonSource::conda, *job.conda);
  } else if (job.wheelhouse && job.container) {
    result.remarks.error(
        "usage/wheelhouse",
        "--wheelhouse builds an environment for the host, --container does without the host's",
        "keep one of them; an environment that was made inside the image comes with --venv PATH");
  } else if (job.wheelhouse) {
    plan_wheelhouse(input, result,
                    requirement_words(job.wheelhouse->value, "--wheelhouse", result.remarks.findings),
                    job.wheelhouse->origin);
  } else if (is_python(job.command) && !job.container && !(job.body && job.body->own_environment)) {
    plan_default_python(input, result);
  }
}

/// The ranks start hpcml by this path, wherever they are.
void check_hpcml_path(const LaunchInput& input, StepDiagnostics& diagnostics) {
  const auto& path = input.job.hpcml_path;
  if (input.is_hpcml() && path && !path->value.empty() && path->value.front() != '/')
    diagnostics.error("usage/hpcml-path", "'" + path->value + "' is no absolute path",
                      "the path that the compute nodes see, as --hpcml-path /project/me/bin/hpcml");
}

} // namespace

void add_module(StepResult<Software>& result, const std::string& text, const model::Origin& origin) {
  const bool is_path = text.starts_with("use:");
  const std::string name = is_path ? text.substr(4) : text;
  if (name.empty() || name.front() == '-' || !util::is_one_line(name) || name.find(' ') != std::string::npos)
    return result.remarks.error("usage/module", "'" + text + "' is no module name",
                                "one module each, as --module gcc/13; a folder of modules as use:/path");
  auto& modules = result.value.modules;
  if (std::none_of(modules.begin(), modules.end(),
                   [&](const auto& m) { return m.name == name && m.is_path == is_path; }))
    modules.push_back({name, is_path, origin});
}

StepResult<Software> plan_modules(const LaunchInput& input) {
  StepResult<Software> result;
  const auto& job = input.job;
  check_hpcml_path(input, result.remarks);
  result.value.command = job.command;
  result.value.steps = job.steps;
  result.value.modules_reset = input.site.modules_reset;
  for (const auto& rule : input.site.modules)
    if (input.applies(rule.when)) add_modules(result, rule.load, rule.origin);
  plan_python(input, result);
  const model::Origin libtorch{model::OriginKind::site, "libtorch_modules", {}, {}, {}};
  if (!job.container && !job.command.empty() && !is_python(job.command))
    add_modules(result, input.site.libtorch_modules, libtorch);
  for (const auto& module : job.modules) add_module(result, module.value, module.origin);
  return result;
}

StepResult<Software> plan_software(const LaunchInput& input) {
  StepDiagnostics diagnostics;
  auto software = unwrap(plan_modules(input), diagnostics);
  software = unwrap(enter_image(input, std::move(software)), diagnostics);
  software = unwrap(stage_files(input, std::move(software)), diagnostics);
  software = unwrap(plan_environment(input, std::move(software)), diagnostics);
  return {std::move(software), std::move(diagnostics)};
}

} // namespace hpcml::plan
