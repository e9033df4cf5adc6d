// SPDX-License-Identifier: MIT
#include "generate/plan/plan_request.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::plan {
namespace {

PlanStepDiagnostics check_commands(const model::JobSpec& job) {
  PlanStepDiagnostics diagnostics;
  const auto is_missing = [](const std::vector<std::string>& command) {
    return command.empty() || command.front().empty();
  };
  if (is_missing(job.command) || std::any_of(job.steps.begin(), job.steps.end(),
                                             [&](const auto& step) { return is_missing(step.command); }))
    diagnostics.error(
        "usage/command", "the job has no command to run",
        "add the command after --, for example -- python train.py, or as \"command\" in the job file");
  const auto refuse_empty = [&](const model::Known<std::string>& known, const char* code) {
    if (known && known->value.empty())
      diagnostics.error(code, fmt::format("{} is empty", known->origin.by), "set a value, or remove it");
  };
  refuse_empty(job.hpcml_path, "usage/hpcml-path");
  refuse_empty(job.gpu_type, "usage/gpu-type");
  refuse_empty(job.checkpoint_dir, "usage/checkpoint-dir");
  return diagnostics;
}

} // namespace

bool counts_all_but_gpus(const model::JobSpec& job) {
  const bool gpu_words = job.gpus_per_node || job.gpus_per_task || job.gpu_type || job.nccl_debug ||
                         (job.backend && job.backend->value == model::Backend::nccl);
  // Several tasks with cores are ranks of a training as often as not; one is a serial program.
  const bool one_task = job.tasks_per_node && job.tasks_per_node->value == 1;
  const bool counts = (job.cpus_per_task && job.mem) || (one_task && (job.cpus_per_task || job.mem));
  return counts && !gpu_words && !job.partition;
}

PlanStepResult<model::JobSpec> read_unrequested_gpus(model::JobSpec job, const model::Site& site) {
  if (!counts_all_but_gpus(job)) return {std::move(job)};
  const bool cpu_jobs = std::any_of(site.partitions.begin(), site.partitions.end(),
                                    [](const auto& partition) { return partition.cpu_only; });
  const bool by_slurm = std::none_of(site.partitions.begin(), site.partitions.end(),
                                     [](const auto& partition) { return partition.nameable; });
  if (!cpu_jobs && (!by_slurm || site.gpu_request.must_request)) return {std::move(job)};
  PlanStepResult<model::JobSpec> result{std::move(job)};
  result.value.gpus_per_node =
      model::Sourced<unsigned>{0, rule_origin("cores and memory are counted, GPUs are not")};
  result.remarks.report("request/gpus-per-node",
                        "planning a job without GPUs, because the request has cores and memory but no GPUs",
                        "set --gpus-per-node N for a job with GPUs");
  return result;
}

PlanStepResult<JobWithAgentOptions> read_node_range(JobWithAgentOptions launched) {
  PlanStepResult<JobWithAgentOptions> result{std::move(launched)};
  auto& job = result.value.job;
  if (!job.nnodes) return result;
  const auto& [range, origin] = *job.nnodes;
  if (!job.nodes) job.nodes = model::Sourced<unsigned>{range.most, origin};
  const auto have = job.nodes->value;
  if (have != range.most) {
    const auto right =
        range.least < have ? std::to_string(range.least) + ":" + std::to_string(have) : std::to_string(have);
    result.remarks.error("request/nnodes",
                         fmt::format("the maximum of --nnodes {} differs from the size of the job: {} ({})",
                                     range.text(), util::counted(have, "node"), job.nodes->origin.by),
                         fmt::format("use --nnodes {}, or remove --nodes", right));
  } else if (range.least < range.most) {
    result.value.least_nodes = range.least;
  }
  return result;
}

PlanStepResult<Request> read_request(model::JobSpec job, const model::Site& site) {
  PlanStepDiagnostics diagnostics = check_commands(job);
  auto launched =
      unwrap(read_command_launcher(unwrap(read_passthrough(std::move(job), site), diagnostics)), diagnostics);
  launched = unwrap(read_node_range(std::move(launched)), diagnostics);
  PlanStepResult<Request> result{{site,
                                  unwrap(read_unrequested_gpus(std::move(launched.job), site), diagnostics),
                                  {},
                                  std::move(launched.agent_options),
                                  launched.least_nodes}};
  auto& request = result.value;
  if (request.job.launcher) request.launcher = request.job.launcher->value;
  if (request.job.container) request.images = container_rules(site, request.job);
  result.remarks = std::move(diagnostics);
  return result;
}

} // namespace hpcml::plan
