// SPDX-License-Identifier: MIT
// A request as a script that a person would write for it, and by which rules check refuses what the planner
// refuses: the two are asked apart from each other.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>

#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"

namespace hpcml::test {

/// The same in a script, as one would write it for Slurm.
inline std::string script_of(const model::JobSpec& job, const model::Site& at) {
  std::string text = "#!/bin/bash\n";
  const auto add = [&](const std::string& option) { text += "#SBATCH --" + option + "\n"; };
  if (job.partition) add("partition=" + job.partition->value);
  if (job.qos) add("qos=" + job.qos->value);
  if (const auto* qos = job.qos ? at.find_qos(job.qos->value) : nullptr)
    for (const auto& option : qos->needs) add(option.substr(2)); // which the planner adds
  const auto add_number = [&](const char* option, const model::Known<unsigned>& number) {
    if (number) add(fmt::format("{}={}", option, number->value));
  };
  add_number("nodes", job.nodes);
  add_number("ntasks-per-node", job.tasks_per_node);
  add_number("cpus-per-task", job.cpus_per_task);
  if (job.cpus_per_task) add("threads-per-core=1");
  const unsigned gpus = job.gpus_per_node ? job.gpus_per_node->value : 0;
  const auto type = job.gpu_type ? job.gpu_type->value + ":" : std::string();
  if (gpus > 0 && at.gpu_request.style != model::GpuOptionStyle::none)
    add(at.gpu_request.style == model::GpuOptionStyle::gres ? fmt::format("gres=gpu:{}{}", type, gpus)
                                                            : fmt::format("gpus-per-node={}{}", type, gpus));
  if (job.mem) add("mem=" + job.mem->value.to_slurm());
  if (job.time) add("time=" + job.time->value.to_slurm());
  const auto add_text = [&](const std::string& option, const model::Known<std::string>& value) {
    if (value) add(option + "=" + value->value);
  };
  add_text("account", job.account);
  add_text("array", job.array);
  add_text("signal", job.signal);
  add_text("dependency", job.dependency);
  for (const auto& raw : job.sbatch) add(raw.value.substr(2));
  return text + "srun true\n";
}

/// The rules of check that a refusal of the planner can be.
inline const std::map<std::string, std::set<std::string>> k_rules = {
    {"request/partition", {"site/partition-named", "site/partition-unknown"}},
    {"request/nodes", {"site/nodes"}},
    {"request/gpus-per-node",
     {"site/gpus-per-node", "site/gpu-count", "site/gpus-missing", "site/gpus-on-cpu-nodes"}},
    {"request/gpus", {"site/total-gpus"}},
    {"request/gpu-type", {"site/gpu-type", "site/gpus-on-cpu-nodes"}},
    {"request/cpus-per-task", {"site/cpus-per-node", "site/gpu-share"}},
    {"request/mem", {"site/memory", "site/gpu-share", "site/option-refused", "slurm/mem-zero"}},
    {"request/time", {"site/time-limit-exceeded", "site/time-limit-too-short"}},
    {"request/qos", {"site/qos-fit", "site/qos-unknown"}},
    {"request/array", {"site/jobs"}},
    {"request/gres", {"site/option-refused"}},
    {"request/nodelist", {"site/option-refused"}}};

inline bool any_of(const std::set<std::string>& rules, const std::set<std::string>& found) {
  return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return found.count(rule) > 0; });
}

} // namespace hpcml::test
