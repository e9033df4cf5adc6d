// SPDX-License-Identifier: MIT
#include "plan/resource_directives.hpp"

#include <algorithm>
#include <cctype>

namespace hpcml::plan {

using model::GpuStyle;
using model::Origin;
using model::Policy;

namespace {

/// The site wants a type and the request has none: which one it gets must not be a surprise.
void say_chosen_type(PlanContext& context, const std::string& type, const Origin& origin) {
  std::vector<std::string> others;
  for (const auto& id : context.partition() ? context.partition()->node_types : std::vector<std::string>()) {
    const auto* node = context.site.find_node_type(id);
    const std::string name = node && node->gpu ? node->gpu->slurm_type : "";
    if (!name.empty() && name != type && std::find(others.begin(), others.end(), name) == others.end())
      others.push_back(name);
  }
  const std::string what = context.site.name + " wants the GPU type named: the job asks for " + type;
  if (others.empty())
    context.note(what + ", the only one here", origin);
  else
    context.warning("request/gpu-type", what + site::cited(origin),
                    "--gpu-type chooses; there are also " + util::join(others, ", "));
}

} // namespace

void add_directive(PlanContext& context, const std::string& name, std::optional<std::string> value,
                   const Origin& origin) {
  context.plan.directives.push_back({name, std::move(value), origin});
}

void add_gpu_directive(PlanContext& context) {
  const model::PlannedLayout& layout = context.plan.layout;
  const model::GpuRequest& request = context.gpu_request();
  if (layout.gpus_per_node == 0) return;
  Origin origin = context.job.gpus_per_node ? context.job.gpus_per_node->origin
                  : context.node()          ? context.node()->origin
                                            : request.origin;
  if (request.style == GpuStyle::none) {
    context.note("no GPU option: the GPUs come with the node here", request.origin);
    return;
  }
  std::string type;
  if (context.job.gpu_type)
    type = context.job.gpu_type->value;
  else if (request.type == Policy::required && context.node() && context.node()->gpu) {
    type = context.node()->gpu->slurm_type;
    say_chosen_type(context, type, request.origin);
  }
  if (request.type == Policy::required && type.empty())
    context.error("usage/gpu-type",
                  context.site.name + " wants the GPU type named" + site::cited(request.origin),
                  "say --gpu-type");
  if (request.type == Policy::forbidden) type.clear();
  if (!std::all_of(type.begin(), type.end(),
                   [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; }))
    context.error("usage/gpu-type", "'" + type + "' is no GPU type");
  const std::string prefix = type.empty() ? "" : type + ":";
  if (request.style == GpuStyle::gpus)
    add_directive(context, "--gpus", prefix + std::to_string(layout.gpus_per_node * layout.nodes), origin);
  else if (request.style == GpuStyle::gres)
    add_directive(context, "--gres", "gpu:" + prefix + std::to_string(layout.gpus_per_node), origin);
  else if (request.style == GpuStyle::gpus_per_task)
    add_directive(context, "--gpus-per-task",
                  prefix + std::to_string(layout.gpus_per_node / layout.tasks_per_node), origin);
  else
    add_directive(context, "--gpus-per-node", prefix + std::to_string(layout.gpus_per_node), origin);
}

void add_core_directives(PlanContext& context) {
  const model::Plan& plan = context.plan;
  const model::PlannedLayout& layout = plan.layout;
  const bool asked_smt = layout.threads_per_core > 1;
  const bool smt = asked_smt || (context.node() && context.node()->cpu.threads_per_core > 1);
  // Where no CPUs are counted the site's default could still be one thread of each core.
  const auto all_threads = [&] {
    if (asked_smt) add_directive(context, "--hint", "multithread", context.job.threads_per_core->origin);
  };
  if (plan.binding.binder == model::Binder::srun_masks) {
    all_threads();
    context.note("no --cpus-per-task: it would make the step smaller than the masks", plan.binding.origin);
    return;
  }
  // A count would shrink the step to CPUs of Slurm's choosing, which need not be those near the GPUs.
  if (plan.binding.binder != model::Binder::srun_cores && plan.launcher.by_srun() && context.owns_nodes()) {
    all_threads();
    context.note("no --cpus-per-task: the step has the whole node", context.partition()->origin);
    return;
  }
  if (context.node() && context.node()->share_policy == model::SharePolicy::automatic &&
      plan.layout.gpus_per_node > 0 && !context.job.cpus_per_task) {
    all_threads();
    context.note("no --cpus-per-task: cores come with the GPUs here", context.node()->origin);
    return;
  }
  if (layout.cpus_per_rank == 0 || (!context.node() && !context.job.cpus_per_task)) {
    all_threads();
    context.note("one core per rank, Slurm's default: the site does not say how many a GPU has; "
                 "--cpus-per-task changes it",
                 by_rule("Slurm's default"));
    return;
  }
  const unsigned ranks = plan.binding.binder == model::Binder::agent ? layout.ranks_per_node : 1;
  Origin origin = context.job.cpus_per_task ? context.job.cpus_per_task->origin
                  : context.node()          ? context.node()->origin
                                            : Origin{};
  add_directive(context, "--cpus-per-task",
                std::to_string(layout.cpus_per_rank * ranks * layout.threads_per_core), origin);
  // Slurm counts hardware threads where the nodes show them; with this it counts those that are meant.
  if (smt)
    add_directive(context, "--threads-per-core", std::to_string(layout.threads_per_core),
                  asked_smt ? context.job.threads_per_core->origin
                            : by_rule("cores are counted, not hardware threads"));
}

} // namespace hpcml::plan
