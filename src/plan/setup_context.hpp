// SPDX-License-Identifier: MIT
// What the steps that plan an environment share: the request, the site, the plan in the making and the
// findings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/container_choice.hpp"
#include "plan/setup_plan.hpp"
#include "plan/torch_wheels.hpp"
#include "site/facts.hpp"

namespace hpcml::plan {

/// The nodes that the environment is for, and what they have in common.
struct SetupNodes {
  std::vector<const model::NodeType*> types;
  WheelTarget target;
};

/// One run of plan_setup. The steps below read `spec`, `job` and `site`, fill `plan` and add to `findings`;
/// none stops at the first error.
struct SetupContext {
  const SetupSpec& spec;
  const model::JobSpec& job;
  const model::Site& site;
  ContainerRules images = {}; ///< the site's rules for the request's image
  SetupPlan plan = {};
  diag::Diagnostics findings = {};
  SetupNodes nodes = {};
  const model::PythonRule* recipe = nullptr;        ///< the site's, for this kind of environment
  const model::ContainerRule* image_rule = nullptr; ///< of the image that the environment lies on

  void error(const std::string& code, const std::string& message, const std::string& hint) {
    findings.push_back({diag::Severity::error, code, message, {}, hint});
  }
  bool is_for_gpus() const { return !(job.gpus_per_node && job.gpus_per_node->value == 0); }
  /// What the profile's conditional rules ask; nothing is known of the number of nodes.
  site::JobFacts facts() const;
  /// Whether the request names an image by the module that gives it.
  bool is_module_image() const;
  /// The site's first recipe of that kind for these nodes.
  const model::PythonRule* recipe_for(std::optional<model::PythonWay> kind) const;
};

/// Adds the text unless it is there.
void add_once(std::vector<std::string>& list, const std::string& text);

// The steps, in this order.
void find_setup_nodes(SetupContext& context);
void choose_setup_kind(SetupContext& context);
/// Part of the above: an environment on top of an image.
void choose_setup_image(SetupContext& context);
void choose_setup_place(SetupContext& context);
void read_setup_packages(SetupContext& context);
void choose_setup_index(SetupContext& context);
void add_setup_software(SetupContext& context);

} // namespace hpcml::plan
