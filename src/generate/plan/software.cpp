// SPDX-License-Identifier: MIT
#include "generate/plan/software.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/site_queries.hpp"
#include "core/util/one_line.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"
#include "generate/plan/environment.hpp"
#include "generate/plan/requirements.hpp"
#include "generate/plan/staging.hpp"
#include "generate/plan/user_command.hpp"

namespace hpcml::plan {
namespace {

using model::PythonEnvironmentKind;
using model::PythonPackageSource;

const model::PythonPackageRule* find_recipe(const RequestWithLayout& input, PythonPackageSource kind) {
  for (const auto& rule : input.site.python)
    if (rule.kind == kind && input.applies(rule.when)) return &rule;
  return nullptr;
}

void add_modules(PlanStepResult<Software>& result, const std::vector<std::string>& modules,
                 const model::Origin& origin) {
  for (const auto& module : modules) add_module(result, module, origin);
}

/// Returns what else a job can use if it cannot build an environment from wheels, as the end of a hint.
std::string other_environments(const RequestWithLayout& input) {
  const model::Site& site = input.site;
  std::string text;
  if (find_recipe(input, PythonPackageSource::conda)) text += " or --conda NAME";
  return site.containers.empty() ? text : text + ", or an image with the packages: --container IMAGE";
}

void plan_wheelhouse(const RequestWithLaunch& input, PlanStepResult<Software>& result,
                     const std::vector<std::string>& packages, const model::Origin& origin) {
  const model::PythonPackageRule* recipe = find_recipe(input, PythonPackageSource::wheelhouse);
  if (!recipe) {
    result.remarks.error(
        "request/wheelhouse",
        fmt::format(
            "--wheelhouse cannot be used: the profile of {} has no site wheels to build an environment from",
            input.site.name),
        fmt::format("use an environment on storage that all nodes share: --venv PATH{}",
                    other_environments(input)));
    return;
  }
  std::string where = recipe->where;
  if (where.empty() && input.node() && input.node()->local_disk) where = *input.node()->local_disk;
  if (where.empty()) {
    result.remarks.error(
        "request/wheelhouse",
        fmt::format(
            "an environment on each node cannot be built: the profile of {} has no node-local storage",
            input.site.name),
        fmt::format("use an environment on storage that all nodes share: --venv PATH{}",
                    other_environments(input)));
    return;
  }
  // Slurm's directory is the job's alone and goes away by itself. A requeued job must not find its first
  // environment.
  const bool by_slurm = is_by_slurm(where);
  result.value.python = {PythonEnvironmentKind::wheelhouse,
                         by_slurm ? where + "/env" : job_directory(input.numbers(), where, "env"),
                         packages,
                         origin,
                         !by_slurm,
                         where};
  add_modules(result, recipe->modules, recipe->origin);
}

/// An environment of the host requires the host's modules; one inside an image has the image.
void add_host_modules(const RequestWithLaunch& input, PlanStepResult<Software>& result,
                      PythonPackageSource kind) {
  const auto* recipe = find_recipe(input, kind);
  if (recipe && !input.job.container) add_modules(result, recipe->modules, recipe->origin);
}

/// An environment by name or path; an archive of one (conda-pack, venv-pack) is unpacked on each node.
void plan_environment_of(const RequestWithLaunch& input, PlanStepResult<Software>& result,
                         PythonEnvironmentKind kind, PythonPackageSource way,
                         const model::Sourced<std::string>& environment) {
  result.value.python =
      is_archive(environment.value)
          ? model::PlannedPython{PythonEnvironmentKind::packed, {}, {environment.value}, environment.origin}
          : model::PlannedPython{kind, environment.value, {}, environment.origin};
  add_host_modules(input, result, way);
}

void check_variable(const RequestWithLaunch& input, const char* option, const std::string& path,
                    PlanStepDiagnostics& diagnostics) {
  const auto name = util::leading_variable(path);
  const bool is_set = std::any_of(input.job.env.begin(), input.job.env.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (name.empty() || is_set || model::has_job_variable(input.site, name)) return;
  diagnostics.error(
      std::string("usage/") + (option + 2),
      fmt::format("{} names variable '{}', which jobs on {} do not have", option, name, input.site.id),
      fmt::format("use the whole path, or set the variable: --env {}=PATH", name));
}

/// What the site recommends for a Python program when the request names no environment.
void plan_default_python(const RequestWithLaunch& input, PlanStepResult<Software>& result) {
  for (const auto& rule : input.site.python) {
    if (!input.applies(rule.when)) continue;
    if (rule.kind == PythonPackageSource::wheelhouse && !rule.packages.empty())
      return plan_wheelhouse(input, result, rule.packages, rule.origin);
    if (rule.kind == PythonPackageSource::conda && !rule.conda_env.empty())
      result.value.python = {PythonEnvironmentKind::conda, rule.conda_env, {}, rule.origin};
    else if (rule.kind != PythonPackageSource::module)
      continue;
    return add_modules(result, rule.modules, rule.origin);
  }
  if (input.job.body && input.job.body->may_set_up_python)
    return result.remarks.note(
        "no Python environment is requested: the script uses the python in PATH or what "
        "its own commands load; use --venv or --conda to set one",
        rule_origin("no common environment"));
  result.remarks.warning(
      "request/python",
      fmt::format(
          "no Python environment is requested, and {} has no common one: the job uses the python in PATH",
          input.site.id),
      "add --venv PATH, --conda NAME or --container IMAGE");
}

void check_environment_names(const RequestWithLaunch& input, PlanStepDiagnostics& diagnostics) {
  const model::JobSpec& job = input.job;
  const int named = job.venv.has_value() + job.conda.has_value() + job.wheelhouse.has_value();
  if (named > 1)
    diagnostics.error("usage/python", "--venv, --conda and --wheelhouse exclude each other",
                      "remove all but one of them");
  for (const auto& [option, text] : {std::pair("--venv", &job.venv), std::pair("--conda", &job.conda)})
    if (*text && ((*text)->value.empty() || !util::is_one_line((*text)->value)))
      diagnostics.error("usage/python",
                        fmt::format("{} is empty, or has a line break or another control character", option),
                        fmt::format("set {} to a name or path in one line", option));
  if (job.venv) check_variable(input, "--venv", job.venv->value, diagnostics);
  if (job.conda) check_variable(input, "--conda", job.conda->value, diagnostics);
}

void plan_python(const RequestWithLaunch& input, PlanStepResult<Software>& result) {
  const model::JobSpec& job = input.job;
  check_environment_names(input, result.remarks);
  if (job.venv) {
    plan_environment_of(input, result, PythonEnvironmentKind::venv, PythonPackageSource::venv, *job.venv);
  } else if (job.conda) {
    plan_environment_of(input, result, PythonEnvironmentKind::conda, PythonPackageSource::conda, *job.conda);
  } else if (job.wheelhouse && job.container) {
    result.remarks.error("usage/wheelhouse",
                         "--wheelhouse and --container exclude each other: programs in an image do not use "
                         "an environment of the host",
                         "remove one of them, or use --venv PATH instead of --wheelhouse for an environment "
                         "made in the image");
  } else if (job.wheelhouse) {
    plan_wheelhouse(input, result,
                    requirement_words(job.wheelhouse->value, "--wheelhouse", result.remarks.findings),
                    job.wheelhouse->origin);
  } else if (is_python(job.command) && !job.container && !(job.body && job.body->own_environment)) {
    plan_default_python(input, result);
  }
}

/// The ranks start hpcml by this path, wherever they are.
void check_hpcml_path(const RequestWithLaunch& input, PlanStepDiagnostics& diagnostics) {
  const auto& path = input.job.hpcml_path;
  if (input.is_hpcml() && path && !path->value.empty() && path->value.front() != '/')
    diagnostics.error("usage/hpcml-path",
                      fmt::format("--hpcml-path '{}' is not an absolute path", path->value),
                      "use the path on the compute nodes: --hpcml-path /project/me/bin/hpcml");
}

} // namespace

void add_module(PlanStepResult<Software>& result, const std::string& text, const model::Origin& origin) {
  const bool is_path = text.starts_with("use:");
  const std::string name = is_path ? text.substr(4) : text;
  if (name.empty() || name.front() == '-' || !util::is_one_line(name) || name.find(' ') != std::string::npos)
    return result.remarks.error("usage/module", fmt::format("'{}' is not a valid module name", text),
                                "use one --module for each module, such as --module gcc/13, or --module "
                                "use:/path for a directory of modules");
  auto& modules = result.value.modules;
  if (std::none_of(modules.begin(), modules.end(),
                   [&](const auto& m) { return m.name == name && m.is_path == is_path; }))
    modules.push_back({name, is_path, origin});
}

PlanStepResult<Software> plan_modules(const RequestWithLaunch& input) {
  PlanStepResult<Software> result;
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

PlanStepResult<Software> plan_software(const RequestWithLaunch& input) {
  PlanStepDiagnostics diagnostics;
  auto software = unwrap(plan_modules(input), diagnostics);
  software = unwrap(enter_image(input, std::move(software)), diagnostics);
  software = unwrap(stage_files(input, std::move(software)), diagnostics);
  software = unwrap(plan_environment(input, std::move(software)), diagnostics);
  return {std::move(software), std::move(diagnostics)};
}

} // namespace hpcml::plan
