// SPDX-License-Identifier: MIT
// make_plan: the steps in their order.
#include "plan/planner.hpp"

#include <algorithm>

#include "plan/command_launcher.hpp"
#include "plan/launch_line.hpp"
#include "plan/plan_context.hpp"
#include "site/verdict.hpp"

namespace hpcml::plan {

namespace {

/// A retired cluster gets no script, whatever else is right or wrong about the request.
bool is_retired(PlanContext& context) {
  if (site::closed_by(context.site) != site::Rule::site_retired) return false;
  const auto why = site::describe_retirement(context.site);
  context.error("site/retired", why.what, why.hint);
  return true;
}

/// A script for sbatch is of no use where there is none: the ranks are started here and now.
bool has_no_scheduler(PlanContext& context) {
  if (site::closed_by(context.site) != site::Rule::no_scheduler) return false;
  const bool one_machine = !context.job.nodes || context.job.nodes->value <= 1;
  context.error("request/scheduler",
                (context.site.name.empty() ? context.site.id : context.site.name) +
                    ": there is no Slurm to submit a script to" + (one_machine ? "" : ", and no second node"),
                context.job.command.empty() ? "start the program with hpcml launch -- CMD"
                                            : "start the program here: " + launch_line(context.job));
  return true;
}

void check_commands(PlanContext& context) {
  const auto is_missing = [](const std::vector<std::string>& command) {
    return command.empty() || command.front().empty();
  };
  const auto& steps = context.job.steps;
  if (is_missing(context.job.command) ||
      std::any_of(steps.begin(), steps.end(), [&](const auto& step) { return is_missing(step.command); }))
    context.error("usage/command", "no command to run", "write it after --, for example: -- python train.py");
}

/// srun takes a word that is a lone ":" for the end of one component of the step, quoted or not.
void check_colons(PlanContext& context) {
  const auto has_colon = [](const std::vector<std::string>& command) {
    return std::find(command.begin(), command.end(), ":") != command.end();
  };
  const auto& steps = context.job.steps;
  if (!context.plan.launcher.by_srun() ||
      (!has_colon(context.job.command) &&
       std::none_of(steps.begin(), steps.end(), [&](const auto& step) { return has_colon(step.command); })))
    return;
  context.error("usage/command",
                "the program's argument ':' alone ends the step for srun, which takes the next word for the "
                "program of another component",
                "start a script that has the argument: -- bash run.sh");
}

bool runs_once(const model::JobSpec& job) {
  return std::any_of(job.steps.begin(), job.steps.end(), [](const auto& step) { return step.once; }) ||
         (job.body && std::any_of(job.body->pieces.begin(), job.body->pieces.end(),
                                  [](const auto& piece) { return piece.launch.once; }));
}

void check_steps(PlanContext& context) {
  if (context.plan.launcher.by_srun() || !runs_once(context.job)) return;
  context.error("request/steps",
                context.site.name + " starts programs with " + context.plan.launcher.step +
                    ", which does not start one process alone",
                "leave \"once\" out, or make a job of its own of that step: \"jobs\"");
}

} // namespace

PlanResult make_plan(const model::JobSpec& job, const model::Site& site) {
  PlanContext context{job, site};
  if (job.container) context.images = container_rules(site, job);
  PlanResult result;
  if (!is_retired(context) && !has_no_scheduler(context)) {
    context.plan.site_id = site.id;
    context.plan.site_hash = site.hash;
    context.plan.shebang = site.shebang;
    context.plan.interactive = site.interactive;
    context.plan.steps = job.steps;
    context.plan.body = job.body;
    context.plan.report = job.report;
    context.plan.preflight = job.preflight;
    context.plan.hpcml_path =
        job.hpcml_path.value_or(model::Sourced<std::string>{"", by_rule("the running program's own path")});
    check_commands(context);
    for (const auto* known : {&job.hpcml_path, &job.gpu_type})
      if (*known && (*known)->value.empty())
        context.error(known == &job.gpu_type ? "usage/gpu-type" : "usage/hpcml-path",
                      (*known)->origin.by + " is empty", "give it a value, or leave it out");
    plan_passthrough(context);
    take_command_launcher(context);
    context.plan.command = context.job.command;
    if (context.job.launcher) context.plan.launcher.choice = context.job.launcher->value;
    choose_cpus_or_gpus(context);
    plan_partition(context);
    plan_layout(context);
    plan_launcher(context);
    check_steps(context);
    check_inner_launchers(context);
    check_colons(context);
    plan_binding(context);
    plan_software(context);
    plan_container(context);
    plan_staging(context);
    plan_environment(context);
    plan_directives(context);
    check_job_limits(context);
    note_site_rules(context);
  }
  result.diagnostics = std::move(context.findings);
  if (!diag::has_errors(result.diagnostics)) result.plan = std::move(context.plan);
  return result;
}

} // namespace hpcml::plan
