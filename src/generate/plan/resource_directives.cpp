// SPDX-License-Identifier: MIT
#include "generate/plan/resource_directives.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/site_rules/gpu_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::plan {

using model::GpuOptionStyle;
using model::OptionPolicy;
using model::Origin;

namespace {

/// The site requires a type and the request has none: which one it gets must not be a surprise.
void report_chosen_type(const RequestWithLayout& input, const std::string& type, const Origin& origin,
                        PlanStepDiagnostics& diagnostics) {
  const auto others = site_rules::other_gpu_types(input.placement.place.kinds, type);
  const char* verb = input.gpu_request().accepts_untyped ? "recommends" : "requires";
  if (others.empty())
    diagnostics.note(fmt::format("{} {} a GPU type: hpcml requests {}, the only one that the job can use",
                                 input.site.name, verb, type),
                     origin);
  else
    diagnostics.warning(
        "request/gpu-type",
        fmt::format("{} {} a GPU type, and the request has none: hpcml requests {}", input.site.name, verb,
                    type),
        fmt::format("use --gpu-type to choose {} or another of {}", type, util::join(others, ", ")), origin);
}

/// Why a rank gets one core.
const char* reason_for_one_core(const model::PlannedLayout& layout) {
  return layout.gpus_per_node == 0 ? "jobs without GPUs share their nodes with other jobs"
                                   : "the profile does not state the cores per GPU";
}

void note_one_core(PlanStepDiagnostics& remarks, const model::PlannedLayout& layout, bool several_ranks) {
  remarks.note(fmt::format("each rank gets one core{}, because {}; --cpus-per-task N sets another number",
                           several_ranks ? "" : ", Slurm's default", reason_for_one_core(layout)),
               rule_origin(several_ranks ? "unknown core count" : "Slurm's default"));
}

/// Where the number of cores per rank comes from.
Origin origin_of_cores(const RequestWithLaunch& input) {
  const auto& layout = input.numbers();
  if (input.cpus_per_task()) return input.cpus_per_task()->origin;
  if (layout.gpus_per_node == 0 && layout.cpus_per_rank == 1 && !input.owns_nodes())
    return rule_origin(
        fmt::format("each rank gets one core, because {}; --cpus-per-task N sets another number",
                    reason_for_one_core(layout)));
  return input.node() ? input.node()->origin : Origin{};
}

} // namespace

void add_directive(Directives& directives, const std::string& name, std::optional<std::string> value,
                   const Origin& origin) {
  directives.header.push_back({name, std::move(value), origin});
}

void add_gpu_directive(const RequestWithLayout& input, PlanStepResult<Directives>& result) {
  const model::PlannedLayout& layout = input.numbers();
  const model::GpuRequestRule& request = input.gpu_request();
  if (layout.gpus_per_node == 0) return;
  Origin origin = input.gpus_per_node() ? input.gpus_per_node()->origin
                  : input.node()        ? input.node()->origin
                                        : request.origin;
  if (request.style == GpuOptionStyle::none) {
    result.remarks.note(
        fmt::format(
            "the script has no GPU option, because jobs on {} get the GPUs of their nodes without one",
            input.site.name),
        request.origin);
    return;
  }
  std::string type;
  if (input.job.gpu_type)
    type = input.job.gpu_type->value;
  else if (request.type == OptionPolicy::required && input.node() && input.node()->gpu) {
    type = input.node()->gpu->slurm_type;
    report_chosen_type(input, type, request.origin, result.remarks);
  }
  if (request.type == OptionPolicy::required && type.empty())
    result.remarks.error(
        "usage/gpu-type",
        fmt::format("{} requires the type of the GPUs, which neither the request nor the profile states",
                    input.site.name),
        "set --gpu-type to a type that sinfo -o '%P %G' lists", request.origin);
  if (request.type == OptionPolicy::forbidden && !type.empty()) {
    result.remarks.note(
        fmt::format("--gpu-type {} is not written into the script: Slurm on {} has no names of GPU types",
                    type, input.site.name),
        request.origin);
    type.clear();
  }
  if (!std::all_of(type.begin(), type.end(),
                   [](char c) { return util::is_name_char(c) || c == '-' || c == '.'; }))
    result.remarks.error("usage/gpu-type", fmt::format("'{}' is not a valid GPU type", type),
                         "use only letters, digits, '.', '-' and '_' in --gpu-type");
  const std::string prefix = type.empty() ? "" : type + ":";
  if (request.style == GpuOptionStyle::gpus)
    add_directive(result.value, "--gpus",
                  prefix + std::to_string(layout.gpus_per_node * layout.nodes_requested()), origin);
  else if (request.style == GpuOptionStyle::gres)
    add_directive(result.value, "--gres", "gpu:" + prefix + std::to_string(layout.gpus_per_node), origin);
  else if (request.style == GpuOptionStyle::gpus_per_task)
    add_directive(result.value, "--gpus-per-task",
                  prefix + std::to_string(layout.gpus_per_node / layout.tasks_per_node), origin);
  else
    add_directive(result.value, "--gpus-per-node", prefix + std::to_string(layout.gpus_per_node), origin);
}

void add_core_directives(const RequestWithLaunch& input, PlanStepResult<Directives>& result) {
  const model::PlannedBinding& binding = input.launch.binding;
  const model::PlannedLayout& layout = input.numbers();
  const bool requested_smt = layout.threads_per_core > 1;
  const bool smt = requested_smt || (input.node() && input.node()->cpu.threads_per_core > 1);
  // Where no CPUs are counted the site's default could still be one thread of each core.
  const auto all_threads = [&] {
    if (requested_smt)
      add_directive(result.value, "--hint", "multithread", input.layout.threads_per_core->origin);
  };
  if (binding.binder == model::Binder::srun_masks) {
    all_threads();
    result.remarks.note(
        "--cpus-per-task is not written into the script, because CPU masks already give each rank its cores",
        binding.origin);
    return;
  }
  // A count would shrink the step to CPUs of Slurm's choosing, which need not be those near the GPUs.
  if (binding.binder != model::Binder::srun_cores && input.launcher().by_srun() && input.owns_nodes()) {
    all_threads();
    result.remarks.note(
        "--cpus-per-task is not written into the script, because each step gets all cores of its nodes",
        input.partition()->origin);
    return;
  }
  if (input.node() && input.node()->share_policy == model::CpusPerGpuPolicy::automatic &&
      layout.gpus_per_node > 0 && !input.cpus_per_task()) {
    all_threads();
    result.remarks.note("--cpus-per-task is not written into the script, because Slurm gives cores with the "
                        "GPUs; add --cpus-per-task N to set a number",
                        input.node()->origin);
    return;
  }
  const unsigned ranks = layout.ranks_per_node / std::max(1U, layout.tasks_per_node); // of each task
  if (layout.cpus_per_rank == 0 || (!input.node() && !input.cpus_per_task())) {
    all_threads();
    // Slurm's default is one for each task.
    if (ranks > 1)
      add_directive(result.value, "--cpus-per-task", std::to_string(ranks * layout.threads_per_core),
                    rule_origin("one core for each rank that the task starts"));
    note_one_core(result.remarks, layout, ranks > 1);
    return;
  }
  add_directive(result.value, "--cpus-per-task",
                std::to_string(layout.cpus_per_rank * ranks * layout.threads_per_core),
                origin_of_cores(input));
  // Slurm counts hardware threads where the nodes show them; with this it counts those that are meant.
  if (smt)
    add_directive(result.value, "--threads-per-core", std::to_string(layout.threads_per_core),
                  requested_smt ? input.layout.threads_per_core->origin
                                : rule_origin("cores are counted, not hardware threads"));
}

} // namespace hpcml::plan
