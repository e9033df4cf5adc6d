// SPDX-License-Identifier: MIT
// The third step of the planner: how many nodes, GPUs, ranks and cores; and what follows for the rules of the
// profile.
#pragma once

#include "core/model/plan.hpp"
#include "core/site_rules/facts.hpp"
#include "generate/plan/plan_placement.hpp"

namespace hpcml::plan {

/// The numbers of a job, and what the conditional rules of its site ask: only a job with numbers has facts.
struct Layout {
  model::PlannedLayout numbers;
  model::Known<unsigned> threads_per_core = {}; ///< as asked for, by the request or by the site
  site_rules::JobFacts facts = {};
};

/// Counts nodes, GPUs, ranks and cores for the request at its place.
PlanStepResult<Layout> plan_layout(const RequestWithPlacement& input);

/// The facts of a job that follow neither from its placement nor from its numbers.
struct JobTraits {
  std::string launcher;
  bool leaves_host = false; ///< its program does not show the host's files
  bool owns_nodes = false;  ///< known from elsewhere than its partition
  std::string image = {};   ///< container image; empty if there is none or it is unknown
};
/// The facts of a job with these numbers at this place.
site_rules::JobFacts facts_of(const model::Site& site, const Placement& placement,
                              const model::PlannedLayout& numbers, const JobTraits& kind);

/// A request that has its place and its numbers, for the steps after them.
struct RequestWithLayout : RequestWithPlacement {
  RequestWithLayout(const RequestWithPlacement& input, const Layout& all)
      : RequestWithPlacement(input), layout(all) {}

  const Layout& layout;

  const model::PlannedLayout& numbers() const { return layout.numbers; }
  const site_rules::JobFacts& facts() const { return layout.facts; }
  bool applies(const model::RuleCondition& when) const { return site_rules::applies(when, facts()); }
  /// The site's rule for an option ("mem") where it holds for this job, else one that allows everything.
  const model::SbatchOptionRule& flag(const std::string& name) const {
    return site_rules::sbatch_option_rule(site, name, facts());
  }
  /// How GPUs are asked for in this job.
  const model::GpuRequestRule& gpu_request() const { return site_rules::gpu_rule(site, facts()); }
  /// Whether Slurm hides from each of several tasks the GPUs of the others.
  bool gpus_by_task() const;
  /// "--x={nodes}" with the job's numbers filled in.
  std::string with_numbers(std::string text) const;
};

} // namespace hpcml::plan
