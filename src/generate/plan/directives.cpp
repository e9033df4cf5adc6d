// SPDX-License-Identifier: MIT
#include "generate/plan/directives.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/slurm/option_word.hpp"
#include "core/util/text.hpp"
#include "generate/plan/option_value.hpp"
#include "generate/plan/resource_directives.hpp"
#include "generate/plan/site_directives.hpp"
#include "generate/plan/site_violations.hpp"
#include "generate/plan/text_directives.hpp"
#include "generate/plan/user_command.hpp"

namespace hpcml::plan {

namespace {

// Memory and time of the job, within what the site gives.

using model::Sourced;
using model::Walltime;

/// Memory per node; nothing where Slurm's own default serves or the site takes no such option.
std::optional<Sourced<model::MemSize>> plan_memory(const RequestWithLayout& input,
                                                   const SiteViolations& violations,
                                                   PlanStepDiagnostics& diagnostics) {
  const model::SbatchOptionRule& rule = input.flag("mem");
  const model::PlannedLayout& layout = input.numbers();
  if (!rule.takes()) return std::nullopt;
  // Given in another unit by hand: two kinds of memory options are fatal in Slurm.
  for (const auto& raw : input.job.sbatch)
    if (raw.value.starts_with("--mem-per-")) {
      violations.report(diagnostics, site_rules::PlanningStep::memory);
      return std::nullopt;
    }
  if (input.mem()) {
    constexpr unsigned long long k_least = 512; // MiB: an interpreter with torch needs more
    if (const auto mib = input.mem()->value.mib(); mib > 0 && mib < k_least)
      diagnostics.warning("request/mem",
                          fmt::format("{} requests only {} MiB per node: a number without a unit is in MiB",
                                      input.mem()->origin.by, mib),
                          fmt::format("use --mem {0}G for {0} GiB", mib));
    if (site_rules::takes_all_memory(input.placement.place, demand_of(input)))
      diagnostics.warning(
          "request/mem",
          fmt::format("--mem 0 requests all memory of a node that other jobs share, but only {} of its GPUs",
                      layout.gpus_per_node),
          "remove --mem 0 to get the memory share of the GPUs, or add --sbatch=--exclusive for a whole node");
    violations.report(diagnostics, site_rules::PlanningStep::memory);
    return input.mem();
  }
  if (!rule.default_value.empty()) {
    if (auto parsed = model::MemSize::parse(rule.default_value))
      return Sourced<model::MemSize>{*parsed, rule.origin};
  }
  if (!input.node()) return std::nullopt;
  const model::NodeType& node = *input.node();
  if (node.share_policy == model::CpusPerGpuPolicy::automatic && layout.gpus_per_node > 0) {
    diagnostics.note(
        fmt::format("the script sets no --mem, because memory comes with the GPUs on {}", input.site.name),
        node.origin);
    return std::nullopt;
  }
  const unsigned per_node = node.gpu ? node.gpu->per_node : 0;
  const bool whole = input.owns_nodes() || (per_node > 0 && layout.gpus_per_node == per_node);
  if (whole && (node.memory || !node.mem_per_gpu)) return node.memory;
  if (layout.gpus_per_node > 0 && node.mem_per_gpu)
    return Sourced<model::MemSize>{model::MemSize::of_mib(node.mem_per_gpu->mib() * layout.gpus_per_node),
                                   node.origin};
  if (layout.gpus_per_node > 0 && per_node > 0 && node.memory) { // none: that is refused already
    const unsigned long long share = node.memory->value.mib() * layout.gpus_per_node / per_node;
    return Sourced<model::MemSize>{model::MemSize::of_mib(share), node.memory->origin};
  }
  return std::nullopt;
}

/// The time limit; nothing where the site's default serves.
std::optional<Sourced<Walltime>> plan_time(const RequestWithLayout& input, const SiteViolations& violations,
                                           PlanStepDiagnostics& diagnostics) {
  std::optional<Sourced<Walltime>> time = input.job.time;
  const model::SbatchOptionRule& rule = input.flag("time");
  if (!time && !rule.default_value.empty())
    if (auto parsed = Walltime::parse(rule.default_value)) time = Sourced<Walltime>{*parsed, rule.origin};
  if (time)
    violations.report(diagnostics, site_rules::PlanningStep::time);
  else if (input.partition() && input.partition()->default_time)
    diagnostics.note(
        fmt::format(
            "the script sets no --time: the default of the partition applies ({}); use --time for another",
            input.partition()->default_time->value.to_slurm()),
        input.partition()->default_time->origin);
  return time;
}

using model::Origin;

void add_partition(const RequestWithSoftware& input, PlanStepResult<Directives>& result) {
  if (input.placement.partition.empty() || !input.flag("partition").takes()) return;
  if (input.partition() && !input.partition()->nameable && !input.job.partition) {
    result.remarks.note(
        fmt::format("the script sets no --partition, because Slurm chooses the partition on {}",
                    input.site.name),
        input.partition()->origin);
    return;
  }
  Origin origin = input.job.partition ? input.job.partition->origin : input.flag("partition").origin;
  if (!input.job.partition && input.partition()) origin = input.partition()->origin;
  add_directive(result.value, "--partition", input.placement.partition, origin);
}

void add_options(const RequestWithSoftware& input, PlanStepResult<Directives>& result) {
  const model::JobSpec& job = input.job;
  add_signal(input, result);
  if (job.requeue) {
    const auto& planned = input.launch.requeue;
    const auto value = planned ? planned->slurm : std::nullopt;
    add_directive(result.value, job.requeue->value ? "--requeue" : "--no-requeue",
                  value ? std::optional(value->value) : std::nullopt,
                  value ? value->origin : job.requeue->origin);
    if (job.requeue->value)
      add_directive(result.value, "--open-mode", "append",
                    rule_origin("a requeued job keeps its earlier output"));
  }
  if (input.launcher().has_own_agent() && input.launcher().least_nodes > 0)
    add_directive(result.value, "--no-kill", std::nullopt, job.nnodes->origin);
  if (input.numbers().spare_nodes > 0)
    add_directive(result.value, "--no-kill", std::nullopt, job.spare_nodes->origin);
  if (job.array) add_text(input, result, "array", job.array);
  if (job.dependency) add_text(input, result, "dependency", job.dependency);
  add_site_options(input, result);
  if (input.partition() && input.partition()->exclusive && input.partition()->slurm_exclusive == false &&
      !result.value.has("--exclusive"))
    add_directive(result.value, "--exclusive", std::nullopt, input.partition()->origin);
}

/// What the user gave raw comes last and wins over a line of the same name; features add up.
void add_raw(const RequestWithSoftware& input, PlanStepResult<Directives>& result) {
  for (const auto& raw : input.job.sbatch) {
    slurm::CanonicalOption option = slurm::split_option(raw.value);
    auto& directives = result.value.header;
    const auto same = [&](const auto& planned) { return planned.name == option.name; };
    if (const auto old = std::find_if(directives.begin(), directives.end(), same);
        option.name == "--constraint" && old != directives.end() && option.value &&
        *option.value != *old->value) {
      const bool either = option.value->find('|') != std::string::npos;
      const auto parts = util::split(*option.value, '&');
      auto features = util::split(*old->value, '&');
      if (!either)
        std::erase_if(features, [&](const auto& feature) {
          return std::find(parts.begin(), parts.end(), feature) != parts.end();
        });
      features.push_back(either ? "(" + *option.value + ")" : *option.value);
      option.value = util::join(features, "&");
    }
    if (const auto old = std::find_if(directives.begin(), directives.end(), same); old != directives.end()) {
      if (option.name == "--gres") { // the planned line asks for GPUs, this one for something else
        old->value = old->value.value_or("") + "," + option.value.value_or("");
        continue;
      }
      result.remarks.note(
          fmt::format("--sbatch={} replaces {}{}", raw.value, old->name, old->value ? "=" + *old->value : ""),
          raw.origin);
      directives.erase(old);
    }
    add_directive(result.value, option.name, option.value, raw.origin);
  }
}

} // namespace

bool Directives::has(const std::string& name) const {
  return std::any_of(header.begin(), header.end(),
                     [&](const auto& directive) { return directive.name == name; });
}

PlanStepResult<Directives> plan_directives(const RequestWithSoftware& input,
                                           const diag::Diagnostics& findings) {
  PlanStepResult<Directives> result{{input.software.image_options, input.launcher().step_args}};
  auto& header = result.value;
  const model::JobSpec& job = input.job;
  const model::PlannedLayout& layout = input.numbers();
  if (job.job_name)
    add_text(input, result, "job-name", job.job_name);
  else if (const auto& command = input.software.command; !command.empty())
    add_directive(header, "--job-name", job_name_of(command), rule_origin("the program's name"));
  add_text(input, result, "account", job.account);
  add_partition(input, result);
  const auto& qos_rule = input.flag("qos");
  if (!job.qos && qos_rule.policy == model::OptionPolicy::required && qos_rule.default_value.empty() &&
      input.qos())
    add_directive(header, "--qos", input.qos()->name, input.qos()->origin);
  else
    add_text(input, result, "qos", job.qos);
  add_directive(header, "--nodes", std::to_string(layout.nodes_requested()),
                layout.spare_nodes > 0 ? job.spare_nodes->origin
                : job.nodes            ? job.nodes->origin
                                       : rule_origin("one node where no number is given"));
  const Origin tasks =
      layout.tasks_per_node != layout.ranks_per_node
          ? rule_origin(fmt::format("one {} per node; it starts the ranks", input.launcher().choice.name()))
      : job.tasks_per_node ? job.tasks_per_node->origin
                           : rule_origin("one rank per GPU");
  add_directive(header, "--ntasks-per-node", std::to_string(layout.tasks_per_node), tasks);
  add_gpu_directive(input, result);
  add_core_directives(input, result);
  const SiteViolations violations(input, demand_of(input));
  if (const auto memory = plan_memory(input, violations, result.remarks))
    add_directive(header, "--mem", memory->value.to_slurm(), memory->origin);
  if (const auto time = plan_time(input, violations, result.remarks))
    add_directive(header, "--time", time->value.to_slurm(), time->origin);
  add_log(input, result);
  add_options(input, result);
  add_raw(input, result);
  if (!job.sbatch.empty()) refuse_combinations(result.remarks, input.site, header.header);
  check_flags(input, findings, result);
  return result;
}

} // namespace hpcml::plan
