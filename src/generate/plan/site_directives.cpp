// SPDX-License-Identifier: MIT
#include "generate/plan/site_directives.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/site_rules/option_pattern.hpp"
#include "core/slurm/option_word.hpp"
#include "core/util/text.hpp"
#include "generate/plan/resource_directives.hpp"
#include "generate/plan/site_violations.hpp"

namespace hpcml::plan {
namespace {

using model::OptionPolicy;
using model::Origin;

/// An option for srun, where the site gives it to the step.
void add_to_step(Directives& directives, const std::string& option) {
  util::add_once(directives.step_args, option);
}

/// True if the job keeps something on the nodes' own disks.
bool uses_local_disk(const RequestWithSoftware& input) {
  if (!input.node() || !input.node()->local_disk) return false;
  const std::string& disk = *input.node()->local_disk;
  const auto below = [&](const std::string& path) { return path.starts_with(disk); };
  const auto& caches = input.software.caches;
  return below(input.software.python.where) || input.software.stage ||
         std::any_of(caches.begin(), caches.end(), [&](const auto& c) { return below(c.base); });
}

/// The value that the request has for an option of a flag rule, if it has one.
const Origin* requested_by_user(const RequestWithLayout& input, const std::string& name) {
  const auto of = [](const auto& known) { return known ? &known->origin : nullptr; };
  const model::JobSpec& job = input.job;
  if (name == "account") return of(job.account);
  if (name == "qos") return of(job.qos);
  if (name == "mem") return of(job.mem);
  if (name == "signal") return of(job.signal);
  if (name == "requeue") return of(job.requeue);
  if (name == "array") return of(job.array);
  if (name == "dependency") return of(job.dependency);
  for (const auto& raw : job.sbatch)
    if (slurm::split_option(raw.value).name == "--" + name) return &raw.origin;
  return nullptr;
}

/// Moves the option from the header to the step.
void give_to_srun(const RequestWithSoftware& input, PlanStepResult<Directives>& result,
                  const std::string& option, const Origin& origin) {
  auto& directives = result.value.header;
  const auto found =
      std::find_if(directives.begin(), directives.end(), [&](const auto& d) { return d.name == option; });
  if (found == directives.end()) return;
  if (option == "--ntasks-per-node") {
    const model::PlannedLayout& layout = input.numbers();
    add_to_step(result.value, "--ntasks=" + std::to_string(layout.nodes * layout.tasks_per_node));
  }
  add_to_step(result.value, found->value ? option + "=" + *found->value : option);
  result.remarks.note(fmt::format("{} is given to srun in the script, because sbatch on {} rejects it",
                                  option, input.site.name),
                      origin);
  directives.erase(found);
}

/// Whether a finding speaks of the option already: then it was given, and what is wrong with it is reported.
bool is_reported(const diag::Diagnostics& findings, const std::string& name) {
  return std::any_of(findings.begin(), findings.end(), [&](const auto& finding) {
    return finding.code == "usage/" + name || finding.code == "request/" + name;
  });
}

/// An option that the site requires of every job: one without a value is given, others must be asked for.
void report_missing(const SiteViolations& violations, const site_rules::PolicyViolation& violation,
                    const diag::Diagnostics& earlier, PlanStepResult<Directives>& result) {
  const auto& [name, flag] = std::pair(violation.name, violation.flag);
  const std::string option = "--" + name;
  if (name == "exclusive")
    add_directive(result.value, option, std::nullopt, flag->origin);
  else if (!is_reported(earlier, name) && !is_reported(result.remarks.findings, name))
    result.remarks.error(
        "usage/" + name, violations.describe(violation),
        fmt::format("add {}{}", option, flag->pattern_hint.empty() ? "" : "=" + flag->pattern_hint),
        violation.origin);
}

} // namespace

void add_site_options(const RequestWithSoftware& input, PlanStepResult<Directives>& result) {
  const auto contradicts = [&](const std::string& text, const Origin& origin) {
    if (input.numbers().threads_per_core == 1 || slurm::split_option(text).name != "--hint") return false;
    result.remarks.note(fmt::format("the site's {} is omitted because --threads-per-core {} was requested: "
                                    "remove --threads-per-core to keep it",
                                    text, input.numbers().threads_per_core),
                        origin);
    return true;
  };
  const auto add_once = [&](const std::string& text, const Origin& origin) {
    const slurm::CanonicalOption option = slurm::split_option(input.with_numbers(text));
    if (!result.value.has(option.name)) add_directive(result.value, option.name, option.value, origin);
  };
  for (const auto& always : input.site.common_options) {
    if (!input.applies(always.when) || contradicts(always.value, always.origin)) continue;
    if (always.on_srun)
      add_to_step(result.value, input.with_numbers(always.value));
    else
      add_once(always.value, always.origin);
  }
  if (input.node() && !input.node()->constraint.empty())
    add_once("--constraint=" + input.node()->constraint, input.node()->origin);
  if (input.qos())
    for (const auto& needed : input.qos()->needs) add_once(needed, input.qos()->origin);
  if (!uses_local_disk(input)) return;
  if (const auto& gib = input.node()->local_disk_gib)
    result.remarks.note(
        fmt::format("files of the job on the local disk of its nodes, {}, can use at most {} GiB per node",
                    *input.node()->local_disk, *gib),
        input.node()->origin);
  if (input.node()->local_disk_option.empty()) return;
  const std::string& option = input.node()->local_disk_option;
  if (option.find("{gib}") == std::string::npos)
    add_once(option, input.node()->origin);
  else
    result.remarks.note(fmt::format("the job uses the local disk of its nodes: request it with --sbatch={}, "
                                    "with the GiB per node for {{gib}}",
                                    option),
                        input.node()->origin);
}

void check_flags(const RequestWithSoftware& input, const diag::Diagnostics& earlier,
                 PlanStepResult<Directives>& result) {
  for (const auto& [name, unconditional] : input.site.flags)
    if (const auto& rule = input.flag(name); rule.policy == OptionPolicy::srun_only)
      give_to_srun(input, result, "--" + name, rule.origin);
  auto demand = demand_of(input, result.value.header);
  for (const auto& [name, unconditional] : input.site.flags)
    if (requested_by_user(input, name)) demand.options.emplace(name, "");
  const SiteViolations violations(input, std::move(demand));
  for (const auto& violation : violations.violations()) {
    if (!violation.flag) continue;
    const std::string option = "--" + violation.name;
    if (violation.rule == site_rules::SiteRule::option_refused) {
      result.remarks.error(
          request_code(violation), violations.describe(violation),
          violation.name == "requeue"
              ? "remove --requeue and use hpcml submit --chain N, whose jobs resume from the last checkpoint"
              : violations.hint(violation),
          violation.origin);
    } else if (violation.rule == site_rules::SiteRule::option_ignored &&
               requested_by_user(input, violation.name)) {
      result.remarks.warning(
          request_code(violation),
          fmt::format("hpcml omits {} from the script: {}", option, violations.describe(violation)),
          violations.hint(violation), violation.origin);
      std::erase_if(result.value.header, [&](const auto& d) { return d.name == option; });
    } else if (violation.rule == site_rules::SiteRule::option_missing) {
      report_missing(violations, violation, earlier, result);
    }
  }
}

} // namespace hpcml::plan
