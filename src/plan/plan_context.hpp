// SPDX-License-Identifier: MIT
// What the steps of the planner share: the request, the site, the plan in the making and the findings.
#pragma once

#include <string>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/plan.hpp"
#include "plan/container_choice.hpp"
#include "site/facts.hpp"
#include "site/limits.hpp"
#include "site/placement.hpp"
#include "site/words.hpp"
#include "topo/affinity.hpp"

namespace hpcml::plan {

/// One run of the planner. The steps read `job` and `site`, fill `plan` and add to `findings`; none stops at
/// the first error.
struct PlanContext {
  model::JobSpec job; ///< a copy: raw pass-through options that are requests are folded into it
  const model::Site& site;
  model::Plan plan = {};
  diag::Diagnostics findings = {};
  site::Placement placement = {};                   ///< where the job goes
  ContainerRules images = {};                       ///< the site's rules for the job's image
  const model::ContainerRule* image_rule = nullptr; ///< the one that holds for the job

  /// None where the site has none, or the request is wrong.
  const model::Partition* partition() const { return placement.partition(); }
  /// None where the site has none.
  const model::NodeType* node() const { return placement.node(); }
  /// The part of a GPU that the job asks for.
  const model::GpuSlice* slice() const { return placement.slice; }
  /// None where the profile does not describe the job's.
  const model::Qos* qos() const { return placement.qos; }
  /// By the partition: launch, which plans the same on the node, does not know of the job's own options.
  bool owns_nodes() const { return partition() && partition()->exclusive; }
  void error(const std::string& code, const std::string& message, const std::string& hint = {}) {
    findings.push_back({diag::Severity::error, code, message, {}, hint});
  }
  void warning(const std::string& code, const std::string& message, const std::string& hint = {}) {
    findings.push_back({diag::Severity::warning, code, message, {}, hint});
  }
  void note(const std::string& text, const model::Origin& origin) { plan.notes.emplace_back(text, origin); }
  /// What is decided so far, for the profile's conditional rules.
  site::JobFacts facts() const;
  /// The site's rule for an option ("mem") where it holds for this job, else one that allows everything.
  const model::FlagRule& flag(const std::string& name) const;
  /// How GPUs are asked for in this job.
  const model::GpuRequest& gpu_request() const;
  /// Whether Slurm hides from each of several tasks the GPUs of the others.
  bool gpus_by_task() const;
  /// A limit of the job's QoS, or the partition's where the QoS states none.
  template <class T> const model::Known<T>& limit(model::Known<T> model::Limits::*which) const {
    return site::limit_of(qos(), partition(), which);
  }
  /// What the limit is a limit of.
  template <class T> std::string limit_owner(model::Known<T> model::Limits::*which) const {
    return hpcml::site::limit_owner(site, qos(), partition(), which);
  }
  /// True if one of the planned directives is `name` ("--mem").
  bool has_directive(const std::string& name) const;
};

/// A value that a rule of the planner decided.
inline model::Origin by_rule(const std::string& rule) { return {model::OriginKind::rule, rule, {}, {}, {}}; }

// The steps, in their order; each in the file of its name.
void plan_passthrough(
    PlanContext& context); ///< folds --sbatch options that are requests into the job, keeps the rest
/// A request that speaks of cores and memory, and of no GPU, is one for CPUs where the site has jobs without
/// GPUs.
void choose_cpus_or_gpus(PlanContext& context);
void plan_partition(PlanContext& context);
void plan_layout(PlanContext& context);
void plan_launcher(PlanContext& context);
void plan_binding(PlanContext& context);
/// What to place on a node with `gpus` GPUs: ranks with as many each as asked for, or sharing them where
/// there are too few.
topo::AffinityRequest make_affinity_request(unsigned ranks, unsigned gpus_per_rank, unsigned cpus_per_rank,
                                            std::size_t gpus);
void plan_directives(PlanContext& context);
void plan_software(PlanContext& context);
void plan_container(PlanContext& context);
void plan_staging(PlanContext& context);
void plan_environment(PlanContext& context);
/// What the site says about the job as a whole: limits of partition and QoS, GPU counts, shares.
void check_job_limits(PlanContext& context);
/// What the job's author should know of the site, and what does not go together.
void note_site_rules(PlanContext& context);
/// A module of the job, once; "use:/path" is a folder of modules.
void add_module(PlanContext& context, const std::string& text, const model::Origin& origin);
/// "--x={nodes}" with the job's numbers filled in.
std::string with_job_numbers(const PlanContext& context, std::string text);

} // namespace hpcml::plan
