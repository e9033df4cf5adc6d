// SPDX-License-Identifier: MIT
// Which partition and which node type the job goes to.
#include <algorithm>
#include <fmt/format.h>

#include "core/site_rules/gpu_names.hpp"
#include "core/util/text.hpp"
#include "generate/plan/plan_placement.hpp"
#include "generate/plan/site_violations.hpp"

namespace hpcml::plan {
namespace {

/// Returns the partition of the job as words, or the site if several may take it.
std::string place_name(const RequestWithPlacement& input) {
  const auto& partitions = input.placement.place.partitions;
  return partitions.size() == 1 ? fmt::format("partition {}", partitions.front()->name) : input.site.name;
}

/// The job names no partition, and the profile has none for it that is not a guess.
void report_no_default(const RequestWithPlacement& input, PlanStepDiagnostics& diagnostics) {
  const bool gpus = !input.job.gpus_per_node || input.job.gpus_per_node->value > 0;
  diagnostics.error(
      "usage/partition",
      fmt::format("{} has no default partition for {} jobs", input.site.name, gpus ? "GPU" : "CPU"),
      fmt::format("use --partition with one of {}", util::join(input.placement.place.choices, ", ")));
}

/// A MIG instance brings its own share of the node.
MigRequestDefaults mig_defaults_of(const model::JobSpec& job, const site_rules::ResolvedPlacement& place) {
  MigRequestDefaults mig_defaults;
  if (!place.slice) return mig_defaults;
  const auto* node = place.node();
  const model::Origin& origin = node ? node->origin : job.gpu_type->origin;
  mig_defaults.gpus_per_node = model::Sourced<unsigned>{1, rule_origin("one MIG instance")};
  if (place.slice->cpus) mig_defaults.cpus_per_task = model::Sourced<unsigned>{*place.slice->cpus, origin};
  if (place.slice->memory) mig_defaults.mem = model::Sourced<model::MemSize>{*place.slice->memory, origin};
  // Where no document says it, the part of the GPU's share that its memory is of the GPU's.
  const auto& part = place.slice->mem_gib;
  const auto whole = node && node->gpu ? node->gpu->mem_gib : std::nullopt;
  if (!part || !whole || *whole == 0 || *part > *whole) return mig_defaults;
  const auto rule = rule_origin("the share of the GPU that the MIG instance's memory has");
  if (!mig_defaults.cpus_per_task && node->cpus_per_gpu)
    mig_defaults.cpus_per_task =
        model::Sourced<unsigned>{std::max(1u, *node->cpus_per_gpu * *part / *whole), rule};
  if (!mig_defaults.mem && node->mem_per_gpu)
    mig_defaults.mem = model::Sourced<model::MemSize>{
        model::MemSize::of_mib(node->mem_per_gpu->mib() * *part / *whole), rule};
  return mig_defaults;
}

void refuse_type(const RequestWithPlacement& input, PlanStepDiagnostics& diagnostics) {
  const auto& kinds = input.placement.place.kinds;
  const auto types = site_rules::gpu_type_names(kinds);
  const auto models = types.empty() ? site_rules::gpu_models(kinds) : std::vector<std::string>();
  diagnostics.error(
      "request/gpu-type",
      fmt::format("no node of {} has GPUs of type '{}'", place_name(input), input.job.gpu_type->value),
      !types.empty() ? util::choice_hint(input.job.gpu_type->value, types)
      : !models.empty()
          ? fmt::format("remove --gpu-type, or use another --partition: the GPUs of these nodes are {}",
                        util::join(models, ", "))
          : "remove --gpu-type: the GPUs of these nodes have no type name");
}

/// Slurm chooses among several node types; a request with the share of one keeps the job from those that have
/// less.
void warn_of_mixture(const RequestWithPlacement& input, const model::NodeType& chosen,
                     PlanStepDiagnostics& diagnostics) {
  const auto& job = input.job;
  const auto& place = input.placement.place;
  const unsigned gpus = job.gpus_per_node ? job.gpus_per_node->value : place.nodes.front()->gpu ? 1 : 0;
  if (gpus == 0 || !chosen.gpu || (job.cpus_per_task && job.mem)) return;
  if (input.site.gpu_request.type == model::OptionPolicy::required) return; // the request will name the kind
  const auto memory = job.mem ? std::optional(job.mem->value) : std::nullopt;
  std::vector<std::string> others;
  for (const auto* node : site_rules::nodes_with_other_share(place, gpus, memory))
    util::add_once(others, site_rules::gpu_name(*node));
  if (others.empty()) return;
  const auto name = site_rules::gpu_name(chosen);
  diagnostics.warning(
      "request/gpu-type",
      fmt::format(
          "{} has several GPU node types, and the cores and memory of this request are those of {}: the "
          "job cannot run on nodes with less per GPU",
          place_name(input), name),
      fmt::format(
          "use --gpu-type {} or another of {}, or set --cpus-per-task and --mem to what all of them have",
          name, util::join(others, ", ")));
}

/// What becomes of a type that the profile does not know by Slurm's name: `nodes` are those that it may be
/// of.
void report_unnamed_type(const RequestWithPlacement& input, const std::string& nodes,
                         const model::Origin& origin, PlanStepDiagnostics& diagnostics) {
  const auto& type = input.job.gpu_type->value;
  const auto& request = site_rules::gpu_rule(input.site, input.placement.place.facts);
  if (request.style == model::GpuOptionStyle::none)
    diagnostics.note(fmt::format("--gpu-type {} is not written into the script: jobs on {} get the GPUs of "
                                 "their nodes without a GPU option",
                                 type, nodes),
                     origin);
  else if (request.type != model::OptionPolicy::forbidden) // that one is reported with the line
    diagnostics.warning(
        "request/gpu-type",
        fmt::format("the profile of {} has no Slurm name for the GPUs of {}: --gpu-type {} is used unchanged",
                    input.site.name, nodes, type),
        "run sinfo -o '%P %G' to see Slurm's names, and set --gpu-type to one of them");
}

/// What is to be reported of the node type that the job is planned for.
void evaluate_node(const RequestWithPlacement& input, PlanStepDiagnostics& diagnostics) {
  const auto* node = input.node();
  const bool typed = input.job.gpu_type && !input.job.gpu_type->value.empty();
  if (!typed && node) return warn_of_mixture(input, *node, diagnostics);
  if (!typed) return;
  if (!node && input.partition())
    return report_unnamed_type(input, fmt::format("partition {}", input.partition()->name),
                               input.partition()->origin, diagnostics);
  if (!node) return;
  if (!input.placement.place.type_exists) return refuse_type(input, diagnostics);
  if (input.slice() || !node->gpu || !node->gpu->slurm_type.empty()) return;
  const auto model = node->gpu->model.empty() ? std::string() : " (" + node->gpu->model + ")";
  report_unnamed_type(input, fmt::format("node type {}{}", node->id, model), node->origin, diagnostics);
}

} // namespace

PlanStepResult<Placement> plan_placement(const Request& request) {
  const model::Site& site = request.site;
  const model::JobSpec& job = request.job;
  PlanStepResult<Placement> result{{site_rules::place(site, site_rules::demand_of(job)), {}, {}, {}, {}}};
  auto& [placement, diagnostics] = result;
  auto& place = placement.place;
  if (job.partition) {
    add(diagnostics, evaluate_named_partition(request, place));
    placement.partition = job.partition->value;
  } else if (place.partition()) {
    placement.partition = place.partition()->name;
  } else if (site.partitions.empty()) {
    placement.partition = site_rules::sbatch_option_rule(site, "partition", place.facts).default_value;
    place.qos = site_rules::choose_qos(site, job.qos ? job.qos->value : std::string(), placement.partition);
  }
  const RequestWithPlacement input(request, placement);
  if (place.chosen_by == site_rules::PartitionOriginKind::only_with_type)
    diagnostics.note(
        fmt::format("using partition {}, the only one with GPUs of type {}: no --partition is needed",
                    place.partition()->name, job.gpu_type->value),
        place.partition()->origin);
  if (place.chosen_by == site_rules::PartitionOriginKind::none && !place.choices.empty())
    report_no_default(input, diagnostics);
  evaluate_node(input, diagnostics);
  const auto* node = place.node();
  if (node) placement.node_type = node->id;
  placement.mig_defaults = mig_defaults_of(job, place);
  if (place.slice)
    placement.gpu_type = place.slice->name;
  else if (job.gpu_type && (!node || !node->gpu || node->gpu->slurm_type.empty()))
    placement.gpu_type = job.gpu_type->value;
  placement.qos = job.qos ? job.qos->value : place.qos ? place.qos->name : "";
  if (node && node->gpu) placement.gpu_vendor = node->gpu->vendor;
  return result;
}

} // namespace hpcml::plan
