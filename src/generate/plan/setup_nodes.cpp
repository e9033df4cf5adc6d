// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fmt/format.h>

#include "core/model/gpu_arch.hpp"
#include "core/model/torch_version.hpp"
#include "core/site_rules/placement.hpp"
#include "core/util/text.hpp"
#include "generate/plan/setup_steps.hpp"
#include "generate/plan/unknown_name.hpp"

namespace hpcml::plan {

namespace {

using model::CpuArch;
using model::GpuVendor;

/// Whether the environment is for nodes of this kind.
bool is_wanted(const SetupRequest& input, const model::NodeType& node) {
  if (node.gpu.has_value() != input.is_for_gpus()) return false;
  if (!input.job.partition) return true;
  const auto* partition = input.site.find_partition(input.job.partition->value);
  return partition && (partition->node_types.empty() ||
                       std::find(partition->node_types.begin(), partition->node_types.end(), node.id) !=
                           partition->node_types.end());
}

/// What the nodes have: one entry for each value that differs, empty where a profile does not say.
struct NodeTraits {
  std::vector<std::string> vendors, cpus, toolkits;
};

NodeTraits traits_of(const std::vector<const model::NodeType*>& types, std::vector<std::string>& archs) {
  NodeTraits traits;
  for (const auto* node : types) {
    util::add_once(traits.cpus, model::word_of(node->cpu_arch));
    if (!node->gpu) continue;
    util::add_once(traits.vendors, model::word_of(node->gpu->vendor));
    util::add_once(archs, model::gpu_arch(*node->gpu));
    util::add_once(traits.toolkits,
                   node->gpu->vendor == GpuVendor::amd ? node->gpu->rocm_max : node->gpu->cuda_max);
  }
  return traits;
}

/// What the wheels must run on, from nodes that have one kind of GPU and of CPU.
void set_target(const SetupRequest& input, const NodeTraits& traits, WheelTarget& target,
                PlanStepDiagnostics& diagnostics) {
  const auto& [vendors, cpus, toolkits] = traits;
  target.vendor = vendors.empty() ? GpuVendor::unknown
                                  : model::find_word<GpuVendor>(vendors.front()).value_or(GpuVendor::unknown);
  if (vendors.empty() &&
      input.is_for_gpus()) { // the profile knows no nodes, or not whose GPUs they have: who asks must know
    if (input.spec.cuda.empty() && input.spec.rocm.empty())
      diagnostics.error(
          "usage/setup",
          fmt::format(
              "the profile of {} does not state the vendor of its GPUs, which decides between CUDA and ROCm",
              input.site.name),
          "use --cuda VERSION or --rocm VERSION, or --gpus-per-node 0 for an environment without GPUs");
    target.vendor = input.spec.rocm.empty() ? GpuVendor::nvidia : GpuVendor::amd;
  }
  target.cpu_arch =
      cpus.empty() ? CpuArch::unknown : model::find_word<CpuArch>(cpus.front()).value_or(CpuArch::unknown);
  // Several drivers: the oldest decides, and an unknown one may be older than all.
  std::erase(target.archs, std::string());
  if (!toolkits.empty() && std::find(toolkits.begin(), toolkits.end(), "") == toolkits.end())
    target.toolkit_max = *std::min_element(toolkits.begin(), toolkits.end(), model::is_older);
}

/// Reports that no node of the profile is of the kind that the environment is for.
void report_no_nodes(const SetupRequest& input, PlanStepDiagnostics& diagnostics) {
  const bool gpus = input.is_for_gpus();
  diagnostics.error(
      "request/setup",
      fmt::format("the profile of {} has no nodes with {} for this request", input.site.name,
                  gpus ? "GPUs" : "CPUs only"),
      gpus ? "remove --partition and --gpu-type, or use --gpus-per-node 0 for an environment without GPUs"
           : "remove --gpus-per-node 0 for an environment with GPUs, or use another --partition");
}

} // namespace

PlanStepResult<SetupTargetNodes> find_setup_nodes(const SetupRequest& input) {
  PlanStepResult<SetupTargetNodes> result;
  auto& [nodes, diagnostics] = result;
  if (input.job.partition)
    if (const auto unknown = site_rules::evaluate_partition_name(input.site, input.job.partition->value)) {
      diagnostics.findings.push_back(describe_unknown_partition(input.site, *unknown));
      return result;
    }
  auto& types = nodes.types;
  for (const auto& node : input.site.node_types)
    if (is_wanted(input, node)) types.push_back(&node);
  if (const auto& type = input.job.gpu_type) {
    const auto* named = input.site.find_node_type(type->value);
    const bool by_id = std::find(types.begin(), types.end(), named) != types.end();
    types = by_id ? std::vector{named} : site_rules::nodes_with_type(types, type->value);
  }
  if (types.empty() && !input.site.node_types.empty()) {
    report_no_nodes(input, diagnostics);
    return result;
  }
  auto traits = traits_of(types, nodes.target.archs);
  auto& [vendors, cpus, toolkits] = traits;
  std::erase(cpus, std::string());
  if (std::find(vendors.begin(), vendors.end(), "") != vendors.end())
    vendors.clear(); // one unknown is enough not to know
  if (vendors.size() > 1 || cpus.size() > 1)
    diagnostics.error("request/setup",
                      fmt::format("one environment cannot run on all nodes of {}: their {} differ ({})",
                                  input.site.name, vendors.size() > 1 ? "GPUs" : "CPUs",
                                  util::join(vendors.size() > 1 ? vendors : cpus, " and ")),
                      "use --partition or --gpu-type to choose nodes of one type");
  else
    set_target(input, traits, nodes.target, diagnostics);
  return result;
}

} // namespace hpcml::plan
