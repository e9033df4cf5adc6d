// SPDX-License-Identifier: MIT
// What a site does with requests: flag rules, GPU requests, launchers, conditions.
#include <fmt/format.h>
#include <regex>

#include "spec/site_parts.hpp"

namespace hpcml::spec {

model::When read_when(ObjectReader& owner) {
  model::When when;
  auto object = owner.object("when");
  if (!object) return when;
  when.min_nodes = object.number("min_nodes", 1);
  when.max_nodes = object.number("max_nodes", 1);
  when.gpus = object.flag("gpus");
  when.partitions = object.texts("partitions", TextRule::name);
  when.launchers = object.texts("launchers", TextRule::name);
  when.container = object.flag("container");
  object.finish();
  return when;
}

std::optional<model::Policy> read_policy(ObjectReader& object, std::string_view key) {
  using model::Policy;
  static const std::vector<std::pair<std::string_view, Policy>> k_policies = {
      {"optional", Policy::optional}, {"required", Policy::required}, {"forbidden", Policy::forbidden}, {"ignored", Policy::ignored}};
  return object.choice(key, k_policies);
}

std::string read_pattern(ObjectReader& object, std::string_view key) {
  const auto pattern = object.text(key);
  if (!pattern) return {};
  // std::regex recurses per character of its input and its pattern: short ones only.
  if (pattern->size() > 200) {
    object.report_value(key, fmt::format("{} is longer than 200 characters", key));
    return {};
  }
  try {
    const std::regex compiled(*pattern);
  } catch (const std::regex_error&) {
    object.report_value(key, fmt::format("\"{}\" is not a regular expression", *pattern), "ECMAScript syntax, as in JavaScript");
    return {};
  }
  return *pattern;
}

namespace {

model::FlagRule read_flag_rule(ObjectReader& object) {
  model::FlagRule rule;
  rule.policy = read_policy(object, "policy").value_or(model::Policy::optional);
  rule.pattern = read_pattern(object, "pattern");
  rule.pattern_hint = object.text("pattern_hint").value_or("");
  rule.default_value = object.text("default").value_or("");
  rule.why = object.text("why").value_or("");
  rule.when = read_when(object);
  rule.origin = object.origin();
  return rule;
}

} // namespace

void read_request_rules(ObjectReader& root, model::Site& site) {
  root.each_member("flags", [&](const std::string& name, ObjectReader& object) { site.flags[name] = read_flag_rule(object); });
  const auto always = root.texts("always", TextRule::option);
  for (const auto& directive : always) site.always.push_back({directive, root.origin("always")});
  site.shebang = root.text("shebang", TextRule::shebang).value_or(site.shebang);
  if (auto gpus = root.object("gpu_request")) {
    site.gpu_request.style = gpus.choice("style", {"gpus-per-node", "gpus", "gres", "gpus-per-task", "none"}).value_or(site.gpu_request.style);
    site.gpu_request.type = read_policy(gpus, "type").value_or(site.gpu_request.type);
    site.gpu_request.allowed_counts = gpus.numbers("allowed_counts");
    site.gpu_request.origin = gpus.origin();
    gpus.finish();
  }
  if (auto seen = root.object("gpu_visibility")) {
    site.gpu_visibility.mode = seen.choice("mode", {"all", "own"}).value_or(site.gpu_visibility.mode);
    site.gpu_visibility.why = seen.text("why").value_or("");
    site.gpu_visibility.origin = seen.origin();
    seen.finish();
  }
}

void read_launchers(ObjectReader& root, model::Site& site) {
  root.each("launchers", [&](ObjectReader& object) {
    model::LauncherRule rule;
    object.require("name", "the program that starts the tasks: srun, ibrun, mpirun");
    rule.name = object.text("name", TextRule::name).value_or("");
    static const std::regex k_launchers("([a-z0-9]+-)?(srun|ibrun|mpirun|mpiexec|jsrun|aprun)");
    if (!rule.name.empty() && !std::regex_match(rule.name, k_launchers))
      object.report_value("name", fmt::format("\"{}\" is not a program that starts tasks", rule.name), "srun, ibrun, mpirun, mpiexec, or one of these with a prefix (bede-mpirun)");
    rule.is_default = object.flag("default").value_or(false);
    rule.args = object.texts("args", TextRule::launcher_argument);
    rule.rank_variable = object.text("rank_variable", TextRule::variable).value_or("");
    rule.local_rank_variable = object.text("local_rank_variable", TextRule::variable).value_or("");
    rule.world_size_variable = object.text("world_size_variable", TextRule::variable).value_or("");
    rule.origin = object.origin();
    site.launchers.push_back(std::move(rule));
  });
  if (const auto binding = root.choice("binding", {"masks", "launch"})) site.binding = {*binding, root.origin("binding")};
  site.scheduler = root.choice("scheduler", {"slurm", "none"}).value_or(site.scheduler);
  site.interactive = root.choice("interactive", {"salloc", "srun", "idev"}).value_or(site.interactive);
  site.signal_for_preemption = root.text("signal_for_preemption", TextRule::name).value_or("");
}

} // namespace hpcml::spec
