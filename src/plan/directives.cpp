// SPDX-License-Identifier: MIT
#include "plan/directives.hpp"

#include <algorithm>

#include "plan/command_words.hpp"
#include "plan/limits.hpp"
#include "plan/option_value.hpp"
#include "plan/resource_directives.hpp"
#include "plan/site_directives.hpp"
#include "plan/site_verdicts.hpp"
#include "plan/text_directives.hpp"
#include "slurm/option_word.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::Origin;

void add_partition(const Equipped& given, Told<Directives>& result) {
  if (given.placement.partition.empty() || !given.flag("partition").takes()) return;
  if (given.partition() && !given.partition()->nameable && !given.job.partition) {
    result.remarks.note("no --partition line: Slurm chooses the partition here", given.partition()->origin);
    return;
  }
  Origin origin = given.job.partition ? given.job.partition->origin : given.flag("partition").origin;
  if (!given.job.partition && given.partition()) origin = given.partition()->origin;
  add_directive(result.value, "--partition", given.placement.partition, origin);
}

void add_options(const Equipped& given, Told<Directives>& result) {
  const model::JobSpec& job = given.job;
  add_signal(given, result);
  if (job.requeue) {
    const auto& planned = given.launch.requeue;
    const auto value = planned ? planned->slurm : std::nullopt;
    add_directive(result.value, job.requeue->value ? "--requeue" : "--no-requeue",
                  value ? std::optional(value->value) : std::nullopt,
                  value ? value->origin : job.requeue->origin);
    if (job.requeue->value)
      add_directive(result.value, "--open-mode", "append", by_rule("a requeued job keeps its earlier output"));
  }
  if (given.launcher().has_own_agent() && given.launcher().least_nodes > 0)
    add_directive(result.value, "--no-kill", std::nullopt, job.nnodes->origin);
  if (given.numbers().spare_nodes > 0)
    add_directive(result.value, "--no-kill", std::nullopt, job.spare_nodes->origin);
  if (job.array) add_text(given, result, "array", job.array);
  if (job.dependency) add_text(given, result, "dependency", job.dependency);
  add_site_options(given, result);
  if (given.partition() && given.partition()->exclusive && given.partition()->slurm_exclusive == false &&
      !result.value.has("--exclusive"))
    add_directive(result.value, "--exclusive", std::nullopt, given.partition()->origin);
}

/// What the user gave raw comes last and wins over a line of the same name; features add up.
void add_raw(const Equipped& given, Told<Directives>& result) {
  for (const auto& raw : given.job.sbatch) {
    slurm::OptionWord option = slurm::split_option(raw.value);
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
      result.remarks.note("--sbatch=" + raw.value + " replaces " + old->name +
                            (old->value ? "=" + *old->value : ""),
                        raw.origin);
      directives.erase(old);
    }
    add_directive(result.value, option.name, option.value, raw.origin);
  }
}

} // namespace

bool Directives::has(const std::string& name) const {
  return std::any_of(header.begin(), header.end(), [&](const auto& one) { return one.name == name; });
}

Told<Directives> plan_directives(const Equipped& given, const diag::Diagnostics& findings) {
  Told<Directives> result{{given.software.image_options, given.launcher().step_args}};
  auto& header = result.value;
  const model::JobSpec& job = given.job;
  const model::PlannedLayout& layout = given.numbers();
  if (job.job_name)
    add_text(given, result, "job-name", job.job_name);
  else if (const auto& command = given.software.command; !command.empty())
    add_directive(header, "--job-name", job_name_of(command), by_rule("the program's name"));
  add_text(given, result, "account", job.account);
  add_partition(given, result);
  const auto& qos_rule = given.flag("qos");
  if (!job.qos && qos_rule.policy == model::Policy::required && qos_rule.default_value.empty() && given.qos())
    add_directive(header, "--qos", given.qos()->name, given.qos()->origin);
  else
    add_text(given, result, "qos", job.qos);
  add_directive(header, "--nodes", std::to_string(layout.nodes_asked()),
                layout.spare_nodes > 0 ? job.spare_nodes->origin
                : job.nodes            ? job.nodes->origin
                                       : by_rule("one node where no number is given"));
  const Origin tasks =
      layout.tasks_per_node != layout.ranks_per_node
          ? by_rule("one " + given.launcher().choice.name() + " per node; it starts the ranks")
      : job.tasks_per_node ? job.tasks_per_node->origin
                           : by_rule("one rank per GPU");
  add_directive(header, "--ntasks-per-node", std::to_string(layout.tasks_per_node), tasks);
  add_gpu_directive(given, result);
  add_core_directives(given, result);
  const SiteJudgement judgement(given, demand_of(given));
  if (const auto memory = plan_memory(given, judgement, result.remarks))
    add_directive(header, "--mem", memory->value.to_slurm(), memory->origin);
  if (const auto time = plan_time(given, judgement, result.remarks))
    add_directive(header, "--time", time->value.to_slurm(), time->origin);
  add_log(given, result);
  add_options(given, result);
  add_raw(given, result);
  if (!job.sbatch.empty()) refuse_combinations(result.remarks, given.site, header.header);
  check_flags(given, findings, result);
  return result;
}

} // namespace hpcml::plan
