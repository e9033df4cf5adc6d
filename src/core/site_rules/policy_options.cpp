// SPDX-License-Identifier: MIT
// Options of sbatch that the site requires, refuses, ignores, or writes in its own form.
#include <array>

#include "core/site_rules/option_pattern.hpp"
#include "core/site_rules/policy_evaluation_context.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

using model::OptionPolicy;

/// What authors leave for others to fill in: with their own value in its place such a script is right.
bool is_placeholder(const std::string& value) {
  static constexpr std::array<std::string_view, 9> k_signs = {"xxx", "<",    "{",          "your",   "change",
                                                              "...", "todo", "project_id", "account"};
  const auto lower = util::to_lower(value);
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](const auto sign) { return lower.find(sign) != std::string::npos; });
}

/// Whether the job has the option, or another that says the same.
bool is_given(const ResourceRequest& demand, const std::string& name) {
  if (demand.has(name)) return true;
  if (name == "mem") return demand.has("mem-per-cpu") || demand.has("mem-per-gpu");
  if (name == "exclusive") return demand.exclusive;
  if (name == "ntasks-per-node" || name == "tasks-per-node") return demand.has("ntasks");
  if (name == "ntasks") return demand.has("ntasks-per-node");
  if (name == "nodes") return demand.has("nodelist");
  return name == "gpus-per-node" && demand.has("gres") && demand.gpus_on_node > 0;
}

/// The rule that holds for the job in one of the partitions that may take it. `sure`: in the first as well.
const model::SbatchOptionRule& rule_of(const PolicyEvaluationContext& job, const std::string& name,
                                       bool& sure) {
  auto facts = job.placement.facts;
  if (first_that_holds(job.site.flag(name), facts)) return sbatch_option_rule(job.site, name, facts);
  for (const auto* partition : job.placement.partitions) {
    facts.partition = partition->name;
    sure = false;
    if (first_that_holds(job.site.flag(name), facts)) return sbatch_option_rule(job.site, name, facts);
  }
  return sbatch_option_rule(job.site, name, job.placement.facts);
}

void evaluate_form(PolicyEvaluationContext& job, const std::string& name,
                   const model::SbatchOptionRule& rule) {
  const auto value = job.demand.text(name);
  if (value.empty() || !rule.takes()) return;
  const auto add = [&](SiteRule what, Confidence certainty) {
    auto& violation = job.add(what, certainty, 0, 0, rule.origin);
    violation.name = name;
    violation.flag = &rule;
  };
  // Suffixes distinguish types of GPU; users who have hours of one type may omit the suffix.
  if (job.placement.facts.gpus && !has_suffix(rule, value)) add(SiteRule::option_suffix, Confidence::likely);
  // Slurm compares accounts without regard to capitals.
  if (!matches_pattern(rule, value) && !(name == "account" && matches_pattern(rule, util::to_lower(value))))
    add(SiteRule::option_form, rule.policy != OptionPolicy::required || is_placeholder(value)
                                   ? Confidence::likely
                                   : Confidence::definite);
}

} // namespace

bool matches_pattern(const model::SbatchOptionRule& rule, const std::string& value) {
  return rule.pattern.empty() || model::matches_pattern(value, rule.pattern);
}

bool has_suffix(const model::SbatchOptionRule& rule, const std::string& value) {
  return rule.suffix.empty() || value.ends_with(rule.suffix);
}

void evaluate_options(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  for (const auto& [name, any] : site.flags) {
    bool sure = true;
    const auto& rule = rule_of(job, name, sure);
    const auto add = [&, &option = name](SiteRule what, Confidence certainty) {
      auto& violation =
          job.add(what, sure ? certainty : std::max(certainty, Confidence::likely), 0, 0, rule.origin);
      violation.name = option;
      violation.flag = &rule;
    };
    const bool has = demand.has(name);
    // A partition is evaluated by its name.
    if (rule.policy == OptionPolicy::forbidden && has && name != "partition")
      add(SiteRule::option_refused, Confidence::definite);
    if (rule.policy == OptionPolicy::discouraged && has && name != "partition")
      add(SiteRule::option_discouraged, Confidence::likely);
    if (rule.policy == OptionPolicy::ignored && has) add(SiteRule::option_ignored, Confidence::advisory);
    // What holds for the partitions of the profile need not hold for another one.
    const bool other_place = !demand.partitions.empty() && placement.partitions.empty();
    if (rule.policy == OptionPolicy::srun_only && has && !other_place)
      add(SiteRule::option_on_srun, Confidence::definite);
    // The command line of sbatch may have it.
    if (rule.policy == OptionPolicy::required && !is_given(demand, name))
      add(SiteRule::option_missing,
          demand.stage == RequestStage::script ? Confidence::likely : Confidence::definite);
    evaluate_form(job, name, rule);
  }
}

} // namespace hpcml::site_rules
