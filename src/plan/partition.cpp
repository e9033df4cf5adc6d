// SPDX-License-Identifier: MIT
// Which partition and which kind of node the job goes to.
#include <algorithm>

#include "plan/site_verdicts.hpp"
#include "site/gpu_names.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

/// The job names no partition, and the profile has none for it that is not a guess.
void say_no_default(PlanContext& context) {
  const bool gpus = !context.job.gpus_per_node || context.job.gpus_per_node->value > 0;
  context.error("usage/partition",
                context.site.name + " has no default partition for " + (gpus ? "GPU" : "CPU") + " jobs",
                "say --partition: " + util::join(context.placement.choices, ", "));
}

/// A part of a GPU brings its own share of the node.
void take_slice(PlanContext& context) {
  if (!context.slice()) return;
  const model::Origin& origin = context.node() ? context.node()->origin : context.job.gpu_type->origin;
  if (!context.job.gpus_per_node)
    context.job.gpus_per_node = model::Sourced<unsigned>{1, by_rule("one part of a GPU")};
  if (!context.job.cpus_per_task && context.slice()->cpus)
    context.job.cpus_per_task = model::Sourced<unsigned>{*context.slice()->cpus, origin};
  if (!context.job.mem && context.slice()->memory)
    context.job.mem = model::Sourced<model::MemSize>{*context.slice()->memory, origin};
  // Where no document says it, the part of the GPU's share that its memory is of the GPU's.
  const auto& part = context.slice()->mem_gib;
  const auto whole = context.node() && context.node()->gpu ? context.node()->gpu->mem_gib : std::nullopt;
  if (!part || !whole || *whole == 0 || *part > *whole) return;
  const auto rule = by_rule("the GPU's share by the part's memory");
  if (!context.job.cpus_per_task && context.node()->cpus_per_gpu)
    context.job.cpus_per_task =
        model::Sourced<unsigned>{std::max(1u, *context.node()->cpus_per_gpu * *part / *whole), rule};
  if (!context.job.mem && context.node()->mem_per_gpu)
    context.job.mem = model::Sourced<model::MemSize>{
        model::MemSize::of_mib(context.node()->mem_per_gpu->mib() * *part / *whole), rule};
}

void refuse_type(PlanContext& context) {
  const auto types = site::gpu_type_names(context.placement.kinds);
  std::vector<std::string> models;
  for (const auto* node : context.placement.kinds)
    if (types.empty() && node->gpu && !node->gpu->model.empty() &&
        std::find(models.begin(), models.end(), node->gpu->model) == models.end())
      models.push_back(node->gpu->model);
  const auto near = util::nearest(context.job.gpu_type->value, types);
  context.error("request/gpu-type", "no node here has GPUs of type '" + context.job.gpu_type->value + "'",
                (near ? "did you mean " + *near + "? " : std::string()) +
                    (!models.empty() ? "its GPUs are " + util::join(models, ", ") +
                                           ": leave --gpu-type out, or name another --partition"
                     : types.empty() ? "its GPUs have no type name: leave --gpu-type out"
                                     : "types: " + util::join(types, ", ")));
}

/// Slurm chooses among several kinds of node; a request with the share of one keeps the job from those that
/// have less.
void warn_of_mixture(PlanContext& context, const model::NodeType& chosen) {
  const auto& job = context.job;
  const auto& nodes = context.placement.nodes;
  const unsigned gpus = job.gpus_per_node ? job.gpus_per_node->value : nodes.front()->gpu ? 1 : 0;
  if (gpus == 0 || !chosen.gpu || (job.cpus_per_task && job.mem)) return;
  if (context.site.gpu_request.type == model::Policy::required) return; // the request will name the kind
  const auto memory = job.mem ? std::optional(job.mem->value) : std::nullopt;
  std::vector<std::string> others;
  for (const auto* node : nodes) {
    const bool same = node->cpus_per_gpu == chosen.cpus_per_gpu && node->mem_per_gpu == chosen.mem_per_gpu;
    const auto name = node->gpu && !node->gpu->slurm_type.empty() ? node->gpu->slurm_type : node->id;
    if (node != &chosen && node->gpu && site::gives(*node, gpus, memory) && !same &&
        std::find(others.begin(), others.end(), name) == others.end())
      others.push_back(name);
  }
  const auto name = chosen.gpu->slurm_type.empty() ? chosen.id : chosen.gpu->slurm_type;
  if (others.empty()) return;
  context.warning("request/gpu-type",
                  (context.partition() ? "partition " + context.partition()->name : context.site.name) +
                      " has several kinds of GPU node, and cores and memory of this request are those of " +
                      name + ": nodes that have less per GPU do not get the job",
                  "say --gpu-type " + name + " or another (" + util::join(others, ", ") +
                      "), or --cpus-per-task and --mem that all of them have");
}

/// What is to be said of the kind of node that the job is planned for.
void judge_node(PlanContext& context) {
  const auto* node = context.node();
  if (!node) return;
  if (!context.job.gpu_type || context.job.gpu_type->value.empty()) return warn_of_mixture(context, *node);
  if (!context.placement.type_is_there) return refuse_type(context);
  if (!context.slice() && node->gpu && node->gpu->slurm_type.empty())
    context.warning("request/gpu-type",
                    "the profile of " + context.site.name +
                        " does not know what Slurm calls the GPUs of node type " + node->id +
                        ": --gpu-type " + context.job.gpu_type->value + " is taken as it is",
                    "sinfo -o '%P %G' shows the names");
}

} // namespace

void choose_cpus_or_gpus(PlanContext& context) {
  auto& job = context.job;
  const model::Site& site = context.site;
  const bool gpu_words = job.gpus_per_node || job.gpus_per_task || job.gpu_type || job.nccl_debug ||
                         (job.backend && job.backend->value == model::Backend::nccl);
  // Several tasks with cores are ranks of a training as often as not; one is a serial program.
  const bool one_task = job.tasks_per_node && job.tasks_per_node->value == 1;
  const bool counts = (job.cpus_per_task && job.mem) || (one_task && (job.cpus_per_task || job.mem));
  if (gpu_words || job.partition || !counts) return;
  const bool cpu_jobs = std::any_of(site.partitions.begin(), site.partitions.end(),
                                    [](const auto& partition) { return partition.cpu_only; });
  const bool by_slurm = std::none_of(site.partitions.begin(), site.partitions.end(),
                                     [](const auto& partition) { return partition.nameable; });
  if (!cpu_jobs && (!by_slurm || site.gpu_request.must_request)) return;
  job.gpus_per_node = model::Sourced<unsigned>{0, by_rule("cores and memory are counted, GPUs are not")};
  context.findings.push_back({diag::Severity::note,
                              "request/gpus-per-node",
                              "a job without GPUs: the request counts cores and memory, and no GPUs",
                              {},
                              "--gpus-per-node N for a job with GPUs"});
}

void plan_partition(PlanContext& context) {
  const model::FlagRule& rule = context.flag("partition");
  const auto& wanted = context.job.partition;
  auto& placement = context.placement = site::place(context.site, site::demand_of(context.job));
  if (wanted) {
    using site::Rule;
    say_verdicts(context, {Rule::partition_refused, Rule::partition_unwanted, Rule::partition_chosen,
                           Rule::partition_unknown, Rule::partition_untold});
    context.plan.partition = wanted->value;
  } else if (context.partition()) {
    context.plan.partition = context.partition()->name;
  } else if (context.site.partitions.empty()) {
    context.plan.partition = rule.default_value;
    placement.qos = site::choose_qos(context.site, context.job.qos ? context.job.qos->value : std::string(),
                                     rule.default_value);
  }
  if (placement.chosen_by == site::ChosenBy::only_with_type)
    context.note("partition " + context.partition()->name + ": the only one with GPUs of type " +
                     context.job.gpu_type->value,
                 context.partition()->origin);
  if (placement.chosen_by == site::ChosenBy::nobody && !placement.choices.empty()) say_no_default(context);
  judge_node(context);
  if (context.node()) context.plan.node_type = context.node()->id;
  take_slice(context);
  if (context.slice())
    context.plan.gpu_type = context.slice()->name;
  else if (context.job.gpu_type &&
           (!context.node() || !context.node()->gpu || context.node()->gpu->slurm_type.empty()))
    context.plan.gpu_type = context.job.gpu_type->value;
  context.plan.qos = context.job.qos ? context.job.qos->value : context.qos() ? context.qos()->name : "";
  if (context.node() && context.node()->gpu) context.plan.gpu_vendor = context.node()->gpu->vendor;
}

} // namespace hpcml::plan
