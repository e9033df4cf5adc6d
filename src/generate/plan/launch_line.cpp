// SPDX-License-Identifier: MIT
#include "generate/plan/launch_line.hpp"

#include <algorithm>
#include <optional>

#include "core/util/shell_quote.hpp"

namespace hpcml::plan {
namespace {

/// One rank per GPU unless the request says otherwise; nothing where it says nothing.
std::optional<unsigned> ranks_of(const model::JobSpec& job) {
  if (job.tasks_per_node) return job.tasks_per_node->value;
  if (!job.gpus_per_node) return std::nullopt;
  const unsigned per_rank = job.gpus_per_task ? std::max(1u, job.gpus_per_task->value) : 1;
  return std::max(1u, job.gpus_per_node->value / per_rank);
}

} // namespace

std::string launch_line(const model::JobSpec& job) {
  std::string line;
  const auto add = [&](const std::string& word) {
    line += (line.empty() ? "" : " ") + util::shell_quote(word);
  };
  const auto flag = [&](const char* name, const std::optional<std::string>& value) {
    if (!value) return;
    add(name);
    add(*value);
  };
  const auto number = [](const model::Known<unsigned>& known) {
    return known ? std::optional(std::to_string(known->value)) : std::nullopt;
  };
  const auto choice = [](const auto& known) {
    return known ? std::optional(model::word_of(known->value)) : std::nullopt;
  };
  if (!job.env.empty() || job.nccl_debug) add("env");
  if (job.nccl_debug) add("NCCL_DEBUG=INFO");
  for (const auto& [name, value] : job.env) add(name + "=" + value.value);
  add("hpcml");
  add("launch");
  if (const auto ranks = ranks_of(job)) flag("--nproc-per-node", std::to_string(*ranks));
  flag("--gpus-per-task", number(job.gpus_per_task));
  flag("--cpus-per-task", number(job.cpus_per_task));
  flag("--threads-per-core", number(job.threads_per_core));
  flag("--idle-cores", choice(job.idle_cores));
  flag("--rank-order", job.rank_order ? std::optional(job.rank_order->value.text()) : std::nullopt);
  flag("--gpu-visibility", choice(job.gpu_visibility));
  flag("--backend", choice(job.backend));
  for (const auto& rank_flag : model::k_rank_flags)
    if (const auto value = rank_flag.write(job)) {
      add("--" + std::string(rank_flag.name));
      if (!rank_flag.is_switch()) add(*value);
    }
  add("--");
  for (const auto& word : job.command) add(word);
  return line;
}

} // namespace hpcml::plan
