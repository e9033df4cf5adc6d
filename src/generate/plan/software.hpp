// SPDX-License-Identifier: MIT
// The fifth step of the planner: what the job's programs run in: modules, Python, an image, files on the
// nodes' disks, variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generate/plan/launch_plan.hpp"

namespace hpcml::plan {

/// What surrounds the job's programs, and how their own words are called in there.
struct Software {
  model::Sourced<model::ModulesReset> modules_reset{model::ModulesReset::none, {}};
  std::vector<model::PlannedModule> modules;
  model::PlannedPython python;
  std::optional<model::PlannedContainer> container;
  const model::ContainerRule* image_rule = nullptr;   ///< the site's for the image
  std::vector<model::PlannedDirective> image_options; ///< of sbatch, for images that Slurm starts
  std::vector<std::string> command;                   ///< with its paths as the image has them
  std::vector<model::JobStep> steps;                  ///< the same
  std::optional<model::PlannedStage> stage;
  std::vector<model::PlannedEnv> env;
  std::vector<model::PlannedCache> caches;
  model::PlannedRendezvous rendezvous;
  model::Sourced<model::Backend> backend;
  model::Sourced<model::GpuVisibilityMode> gpu_visibility;
};

/// Plans all of it.
PlanStepResult<Software> plan_software(const RequestWithLaunch& input);

// The parts of it, in their order: each adds to what those before it have decided.

/// Modules and the Python environment.
PlanStepResult<Software> plan_modules(const RequestWithLaunch& input);
/// The image, and the environment and the commands as they are called in it.
PlanStepResult<Software> enter_image(const RequestWithLaunch& input, Software software);
/// What is copied to the nodes' own disks.
PlanStepResult<Software> stage_files(const RequestWithLaunch& input, Software software);
/// Variables, caches, rendezvous endpoint and backend.
PlanStepResult<Software> plan_environment(const RequestWithLaunch& input, Software software);

/// A module of the job, once; "use:/path" is a directory of modules.
void add_module(PlanStepResult<Software>& result, const std::string& text, const model::Origin& origin);

/// A request whose software is planned, for the steps after it.
struct RequestWithSoftware : RequestWithLaunch {
  RequestWithSoftware(const RequestWithLaunch& input, const Software& with)
      : RequestWithLaunch(input), software(with) {}

  const Software& software;
};

} // namespace hpcml::plan
