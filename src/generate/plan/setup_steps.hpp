// SPDX-License-Identifier: MIT
// The steps that plan an environment, as a chain of values: each is a function of those before it. None stops
// at the first error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/site_rules/facts.hpp"
#include "generate/plan/container_choice.hpp"
#include "generate/plan/plan_step_diagnostics.hpp"
#include "generate/plan/setup_plan.hpp"
#include "generate/plan/torch_wheels.hpp"

namespace hpcml::plan {

/// What is asked for, of which site.
struct SetupRequest {
  const SetupOptions& spec;
  const model::JobSpec& job;
  const model::Site& site;
  ContainerRules images = {}; ///< the site's rules for the request's image

  bool is_for_gpus() const { return !(job.gpus_per_node && job.gpus_per_node->value == 0); }
  /// Compute nodes have no internet.
  bool is_offline() const { return !site.network.internet_on_compute.value_or(true); }
};

/// The nodes that the environment is for, and what they have in common.
struct SetupTargetNodes {
  std::vector<const model::NodeType*> types;
  WheelTarget target;
};
PlanStepResult<SetupTargetNodes> find_setup_nodes(const SetupRequest& input);

/// A request whose nodes are found, for the steps after it.
struct SetupWithTargetNodes : SetupRequest {
  SetupWithTargetNodes(const SetupRequest& request, const SetupTargetNodes& all)
      : SetupRequest(request), nodes(all) {}

  const SetupTargetNodes& nodes;

  /// What the profile's conditional rules ask; nothing is known of the number of nodes.
  site_rules::JobFacts facts(SetupKind kind) const;
  /// Whether the request names its own image by the module that gives it.
  bool is_module_image(SetupKind kind) const;
};

/// How the environment is made.
struct SetupMethod {
  SetupKind kind = SetupKind::venv;
  const model::PythonPackageRule* recipe = nullptr; ///< the site's, for this kind of environment
  std::optional<SquashfsSetup> squashed = {};       ///< it is on top of an image, as one file
  const model::ContainerRule* image_rule = nullptr; ///< of that image
};
PlanStepResult<SetupMethod> choose_setup_method(const SetupWithTargetNodes& input);
/// Part of the above: a virtual environment on top of the request's image.
PlanStepResult<SetupMethod> choose_setup_image(const SetupWithTargetNodes& input, SetupKind kind);

/// A request whose way is chosen, for the steps after it.
struct SetupWithMethod : SetupWithTargetNodes {
  SetupWithMethod(const SetupWithTargetNodes& input, const SetupMethod& how)
      : SetupWithTargetNodes(input), way(how) {}

  const SetupMethod& way;

  site_rules::JobFacts facts() const { return SetupWithTargetNodes::facts(way.kind); }
  bool is_module_image() const { return SetupWithTargetNodes::is_module_image(way.kind); }
};

/// Where the environment is.
struct EnvironmentPath {
  std::string place; ///< path (with variables, if `expression`), name or image
  bool expression = false;
  std::string use;        ///< the flag that a job takes it with: "--venv"
  std::string easyconfig; ///< EasyBuild's recipe of an image that a module gives; empty: none
  std::string pack;       ///< archive to make of it; empty: none
};
PlanStepResult<EnvironmentPath> choose_environment_path(const SetupWithMethod& input);

/// What is installed.
struct SetupPackages {
  std::vector<std::string> torch;     ///< from PyTorch's index, or from the site's wheels
  std::vector<std::string> pip_words; ///< "-r FILE" included
  bool has_torch = true;              ///< torch is among them, by name or by what asks for it
};
PlanStepResult<SetupPackages> read_setup_packages(const SetupWithMethod& input);

/// Where the packages come from, and for which Python.
struct PackageIndex {
  std::optional<WheelIndex> index; ///< none: the site's own wheels
  std::string reason;
  std::string list_wheels; ///< the site's program that lists its wheels; empty: none
  std::string python;      ///< version
};
PlanStepResult<PackageIndex> choose_setup_index(const SetupWithMethod& input, const EnvironmentPath& place);

/// What is loaded and set for the making of it.
struct SetupBuildEnvironment {
  model::ModulesReset modules_reset = model::ModulesReset::none;
  std::vector<model::PlannedModule> modules;
  std::vector<model::PlannedEnv> downloads;  ///< where pip and uv keep what they have fetched
  std::string base_image;                    ///< of the image to build
  std::vector<std::string> link_directories; ///< expressions
  std::string cuda_archs;                    ///< TORCH_CUDA_ARCH_LIST: "8.0;9.0"; empty: none
};
PlanStepResult<SetupBuildEnvironment> plan_setup_build_environment(const SetupWithMethod& input);

} // namespace hpcml::plan
