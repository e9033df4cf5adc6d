// SPDX-License-Identifier: MIT
// What a site does with requests: flag rules, GPU requests, launchers, conditions.
#include <fmt/format.h>

#include "model/launcher.hpp"
#include "model/pattern.hpp"
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
  when.min_gpus = object.number("min_gpus", 1);
  when.max_gpus = object.number("max_gpus", 1);
  when.whole_nodes = object.flag("whole_nodes");
  when.node_types = object.texts("node_types", TextRule::name);
  when.gpu_types = object.texts("gpu_types", TextRule::name);
  when.qos = object.texts("qos", TextRule::name);
  object.finish();
  return when;
}

std::optional<model::Policy> read_policy(ObjectReader& object, std::string_view key) {
  return object.choice<model::Policy>(key);
}

bool is_pattern(ObjectReader& object, std::string_view key, const std::string& pattern) {
  if (!object.tries_patterns()) return true;
  const auto checked = model::check_pattern(pattern);
  if (!checked) object.report_value(key, checked.error().what, checked.error().hint);
  return checked.ok();
}

std::string read_pattern(ObjectReader& object, std::string_view key) {
  const auto pattern = object.text(key);
  if (!pattern || !is_pattern(object, key, *pattern)) return {};
  return *pattern;
}

namespace {

model::FlagRule read_flag_rule(ObjectReader& object) {
  model::FlagRule rule;
  rule.policy = read_policy(object, "policy").value_or(model::Policy::optional);
  rule.pattern = read_pattern(object, "pattern");
  rule.pattern_hint = object.text("pattern_hint").value_or("");
  rule.default_value = object.text("default").value_or("");
  rule.suffix = object.text("suffix", TextRule::word).value_or("");
  rule.why = object.text("why").value_or("");
  rule.when = read_when(object);
  rule.origin = object.origin();
  return rule;
}

/// The first rule of a list holds the others.
template <class Rule> void add_rule(std::optional<Rule>& first, Rule rule) {
  if (!first)
    first = std::move(rule);
  else
    first->more.push_back(std::move(rule));
}

model::GpuRequest read_gpu_request(ObjectReader& object) {
  model::GpuRequest rule;
  rule.style = object.choice<model::GpuStyle>("style").value_or(rule.style);
  rule.type = read_policy(object, "type").value_or(rule.type);
  if (rule.type == model::Policy::srun_only || rule.type == model::Policy::discouraged)
    object.report_value("type", "a GPU's type cannot be " + std::string(model::word_of(rule.type)),
                        "it is one of: optional, required, forbidden, ignored");
  rule.allowed_counts = object.numbers("allowed_counts");
  rule.multiple_of = object.number("multiple_of", 1).value_or(rule.multiple_of);
  rule.whole_nodes_if_several = object.flag("whole_nodes_if_several").value_or(false);
  rule.must_request = object.flag("must_request").value_or(false);
  rule.when = read_when(object);
  rule.origin = object.origin();
  return rule;
}

void read_always(ObjectReader& root, model::Site& site) {
  root.each_or_text(
      "always", TextRule::option,
      [&](const std::string& option, const model::Origin& origin) {
        site.always.push_back({option, origin});
      },
      [&](ObjectReader& object) {
        object.require("option", "the option that every job gets: --network=disable_rdzv_get");
        model::AlwaysRule rule{object.text("option", TextRule::option).value_or(""), object.origin()};
        rule.on_srun = object.choice("on", {"sbatch", "srun"}) == "srun";
        rule.when = read_when(object);
        if (!rule.value.empty()) site.always.push_back(std::move(rule));
      });
}

} // namespace

void read_request_rules(ObjectReader& root, model::Site& site) {
  std::map<std::string, std::optional<model::FlagRule>> flags;
  root.each_member("flags", [&](const std::string& name, ObjectReader& object) {
    add_rule(flags[name], read_flag_rule(object));
  });
  for (auto& [name, rule] : flags)
    if (rule) site.flags[name] = std::move(*rule);
  read_always(root, site);
  site.shebang = root.text("shebang", TextRule::shebang).value_or(site.shebang);
  std::optional<model::GpuRequest> gpus;
  root.each_or_one("gpu_request", [&](ObjectReader& object) { add_rule(gpus, read_gpu_request(object)); });
  if (gpus) site.gpu_request = std::move(*gpus);
  if (auto others = root.object("other_names")) {
    site.other_partitions = others.texts("of_partitions");
    site.other_qos = others.texts("of_qos");
    others.finish();
  }
  if (auto constraints = root.object("constraints")) {
    site.constraints = constraints.texts("values");
    site.constraint_operators = constraints.texts("operators");
    for (const auto& sign : site.constraint_operators)
      if (sign != "&" && sign != "|")
        constraints.report_value("operators", fmt::format("\"{}\" does not join features", sign),
                                 "it is one of: &, |");
    constraints.finish();
  }
  if (auto seen = root.object("gpu_visibility")) {
    site.gpu_visibility.mode = seen.choice<model::GpusSeen>("mode").value_or(site.gpu_visibility.mode);
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
    if (!rule.name.empty() && !model::starts_tasks(rule.name))
      object.report_value("name", fmt::format("\"{}\" is not a program that starts tasks", rule.name),
                          "srun, ibrun, mpirun, mpiexec, or one of these with a prefix (bede-mpirun)");
    rule.is_default = object.flag("default").value_or(false);
    rule.args = object.texts("args", TextRule::launcher_argument);
    rule.per_node_args = object.texts("per_node_args", TextRule::launcher_argument);
    rule.rank_variable = object.text("rank_variable", TextRule::variable).value_or("");
    rule.local_rank_variable = object.text("local_rank_variable", TextRule::variable).value_or("");
    rule.world_size_variable = object.text("world_size_variable", TextRule::variable).value_or("");
    rule.when = read_when(object);
    rule.origin = object.origin();
    site.launchers.push_back(std::move(rule));
  });
  if (const auto binding = root.choice<model::NodeBinding>("binding"))
    site.binding = {*binding, root.origin("binding")};
  site.interactive.program = root.text("interactive", TextRule::name).value_or(site.interactive.program);
  site.interactive.options = root.text_map("interactive_options", TextRule::name, TextRule::option);
  site.interactive.implied = root.texts("interactive_implies", TextRule::name);
  const bool of_slurm = site.interactive.program == "salloc" || site.interactive.program == "srun";
  if (of_slurm != site.interactive.options.empty())
    root.report_value(
        of_slurm ? "interactive_options" : "interactive",
        of_slurm
            ? fmt::format("{} takes Slurm's own options", site.interactive.program)
            : fmt::format(
                  "\"{}\" is neither salloc nor srun, and interactive_options does not say how it is asked",
                  site.interactive.program),
        "as \"interactive\": \"ask\", \"interactive_options\": {\"nodes\": \"-N\", \"time\": \"-t\"}");
  site.signal_for_preemption = root.text("signal_for_preemption", TextRule::name).value_or("");
}

} // namespace hpcml::spec
