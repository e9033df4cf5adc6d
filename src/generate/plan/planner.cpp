// SPDX-License-Identifier: MIT
// make_plan: the steps in their order.
#include "generate/plan/planner.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/site_rules/policy_violation.hpp"
#include "core/site_rules/site_text.hpp"
#include "generate/plan/directives.hpp"
#include "generate/plan/launch_line.hpp"

namespace hpcml::plan {

namespace {

/// A site that takes no job, whatever else is right or wrong about the request: a retired cluster, or one
/// without Slurm, where a script for sbatch is of no use and the ranks are started here and now.
PlanStepDiagnostics refuse_site(const model::JobSpec& job, const model::Site& site) {
  PlanStepDiagnostics diagnostics;
  const auto closed = site_rules::unavailable_reason(site);
  if (closed == site_rules::SiteRule::site_retired) {
    const auto why = site_rules::describe_retirement(site);
    diagnostics.error("site/retired", why.what, why.hint, site.state_origin);
  } else if (closed == site_rules::SiteRule::no_scheduler) {
    const bool one_machine = !job.nodes || job.nodes->value <= 1;
    diagnostics.error("request/scheduler",
                      one_machine ? site_rules::describe_no_scheduler(site)
                                  : fmt::format("{}: a job with {} nodes cannot run on one machine",
                                                site_rules::describe_no_scheduler(site), job.nodes->value),
                      job.command.empty() ? "use hpcml launch -- CMD to start the program"
                                          : fmt::format("run the program here: {}", launch_line(job)));
  }
  return diagnostics;
}

/// The plan as scripts and launch read it, from the values of the steps.
model::Plan plan_of(const RequestWithSoftware& input, Software software, Directives directives) {
  const model::Site& site = input.site;
  const model::JobSpec& job = input.job;
  model::Plan plan;
  plan.site_id = site.id;
  plan.site_hash = site.hash;
  plan.shebang = site.shebang;
  plan.interactive = site.interactive;
  plan.partition = input.placement.partition;
  plan.node_type = input.placement.node_type;
  plan.qos = input.placement.qos;
  plan.gpu_type = input.placement.gpu_type;
  plan.gpu_vendor = input.placement.gpu_vendor;
  plan.layout = input.numbers();
  plan.launcher = input.launcher();
  plan.launcher.step_args = std::move(directives.step_args);
  plan.binding = input.launch.binding;
  plan.saving = input.launch.saving;
  plan.requeue = input.launch.requeue;
  plan.directives = std::move(directives.header);
  plan.command = std::move(software.command);
  plan.steps = std::move(software.steps);
  plan.modules_reset = std::move(software.modules_reset);
  plan.modules = std::move(software.modules);
  plan.python = std::move(software.python);
  plan.container = std::move(software.container);
  plan.stage = std::move(software.stage);
  plan.env = std::move(software.env);
  plan.caches = std::move(software.caches);
  plan.rendezvous = std::move(software.rendezvous);
  plan.backend = std::move(software.backend);
  plan.gpu_visibility = std::move(software.gpu_visibility);
  plan.body = job.body;
  plan.ranks = job;
  plan.hpcml_path =
      job.hpcml_path.value_or(model::Sourced<std::string>{"", rule_origin("the running program's own path")});
  return plan;
}

} // namespace

PlanResult make_plan(const model::JobSpec& job, const model::Site& site, const CommandLineContext& caller) {
  auto diagnostics = refuse_site(job, site);
  if (diagnostics.refuse()) return {std::nullopt, std::move(diagnostics.findings)};
  const auto request = unwrap(read_request(job, site), diagnostics);
  const auto placement = unwrap(plan_placement(request), diagnostics);
  const RequestWithPlacement placed(request, placement);
  const auto layout = unwrap(plan_layout(placed), diagnostics);
  const RequestWithLayout laid_out(placed, layout);
  const auto launch = unwrap(plan_launch(laid_out, diagnostics.refuse()), diagnostics);
  const RequestWithLaunch launched(laid_out, launch);
  auto software = unwrap(plan_software(launched), diagnostics);
  const RequestWithSoftware equipped(launched, software);
  auto directives = unwrap(plan_directives(equipped, diagnostics.findings), diagnostics);
  add(diagnostics, evaluate_job(equipped, directives));
  auto submission = unwrap(plan_submission(equipped), diagnostics);
  add(diagnostics, note_site_rules(equipped, directives));
  if (diagnostics.refuse()) return {std::nullopt, std::move(diagnostics.findings)};
  auto plan = plan_of(equipped, std::move(software), std::move(directives));
  plan.submit_command = std::move(submission);
  plan.notes = std::move(diagnostics.notes);
  plan.request_line = caller.request_line;
  plan.sites_dirs = caller.sites_dirs;
  return {std::move(plan), std::move(diagnostics.findings)};
}

} // namespace hpcml::plan
