// SPDX-License-Identifier: MIT
// Lists of visible GPUs written by hand.
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/masks.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_gpus_by_hand {

bool is_list(const std::string& value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return c == ',' || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

/// Whether the job asks for GPUs at all: to one that does not Slurm gives none, whatever the list says.
bool requests_gpus(const LintContext& subject) {
  static constexpr std::array<std::string_view, 5> k_options = {"gres", "gpus", "gpus-per-node",
                                                                "gpus-per-task", "gpus-per-socket"};
  return std::any_of(k_options.begin(), k_options.end(), [&](auto option) {
    return std::any_of(subject.requests.begin(), subject.requests.end(),
                       [&](const auto& request) { return request.has(option); });
  });
}

/// The largest number in the list.
long highest(const std::string& list) {
  unsigned long long most = 0;
  for (const auto& index : util::split(list, ','))
    most = std::max(most, util::parse_unsigned(index).value_or(0));
  return static_cast<long>(std::min<unsigned long long>(most, 1000));
}

/// Whether the job has its nodes to itself, as far as that is known; where it is not, whether the list is as
/// long as a node of the usual sizes has GPUs.
bool has_whole_nodes(const LintContext& subject, long count) {
  if (subject.requests.size() != 1) return false;
  if (subject.requests[0].sharing == slurm::NodeSharing::exclusive) return true;
  const auto* node = only_node(subject);
  if (subject.fits.size() != 1 || !node) return count == 4 || count == 8;
  return subject.fits[0].owns_nodes() || subject.fits[0].facts.whole_nodes ||
         (node && node->gpu && count >= static_cast<long>(node->gpu->per_node));
}

/// The step's option by which each task sees the GPUs near it.
const GivenOption* binding_option(const Launch& launch) {
  const auto* step = launch.step();
  const auto* option = step && step->program == "srun" ? step->find("accel-bind") : nullptr;
  const bool gpus = option && option->value && option->value->text().find('g') != std::string::npos;
  return gpus ? option : nullptr;
}

/// True if the list is in front of the only program that the job runs.
bool is_for_only_program(const LintContext& subject, const Launch& launch) {
  return std::count_if(subject.launches.begin(), subject.launches.end(), does_work) == 1 && does_work(launch);
}

/// Whether the list is exported for all programs after it, or for the only one, not chosen for one of
/// several.
bool is_for_all(const LintContext& subject, const EffectiveEnvVariable& seen) {
  const auto& context = seen.launch->command->context;
  const bool exported = seen.set_at.offset != seen.value->place.offset;
  return !context.background && !context.loop && (exported || is_for_only_program(subject, *seen.launch));
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto* node = only_node(subject);
  const bool amd = node && node->gpu && node->gpu->vendor == model::GpuVendor::amd;
  for (const auto& seen :
       seen_variables(subject, {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"})) {
    const auto value = seen.value->known() ? seen.value->text() : std::string();
    if (!is_list(value) || !is_for_all(subject, seen)) continue;
    const auto gpus = shape_of_job(subject).gpus_per_node;
    const auto count = static_cast<long>(util::split(value, ',').size());
    const std::string name(seen.name);
    if (!gpus && !subject.header.directives.empty() && !requests_gpus(subject)) continue;
    std::string message =
        fmt::format("{} is set by hand, but Slurm may have given the job other GPUs of a shared node", name);
    const bool beyond = gpus && *gpus == count && highest(value) >= *gpus;
    const bool differs = (gpus && *gpus != count) || beyond;
    if (beyond)
      message = fmt::format(
          "{} names GPU {}, but the job has {} on each node, numbered from 0 if other GPUs are hidden{}",
          name, highest(value), *gpus, *gpus > 1 ? fmt::format(" to {}", *gpus - 1) : "");
    else if (differs)
      message =
          fmt::format("{} names {}, but the job has {} on each node{}", name, util::counted(count, "GPU"),
                      *gpus, count < *gpus ? "; the others stay idle" : "");
    else if (const auto* bind = binding_option(*seen.launch))
      message = fmt::format("{} names all GPUs, but srun --{} sets it to the nearest GPUs of each task", name,
                            bind->name);
    else if (has_whole_nodes(subject, count))
      continue; // there are no others' GPUs
    else if (amd && name == "CUDA_VISIBLE_DEVICES")
      message = fmt::format("on AMD GPUs {} counts within ROCR_VISIBLE_DEVICES, which Slurm sets, so its "
                            "numbers are not the node's",
                            name);
    add_match(hits, {seen.value->place,
                     std::move(message),
                     "remove it: Slurm sets it, and each rank uses the GPU of its LOCAL_RANK",
                     {},
                     differs ? std::nullopt : std::optional(diag::Severity::note)});
  }
  return hits;
}

} // namespace launch_gpus_by_hand

Rule rule_launch_gpus_by_hand() {
  using namespace launch_gpus_by_hand;
  return {
      .id = "launch/gpus-by-hand",
      .severity = diag::Severity::warning,
      .title = "Visible GPUs set by hand",
      .why = "Slurm sets CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES to the job's GPUs. A fixed list hides "
             "some of "
             "them, names GPUs that the job does not have (\"invalid device "
             "ordinal\"), or, without cgroups, takes those of another job.",
      .link = "https://slurm.schedmd.com/gres.html#GPU_Management",
      .bad = {R"(#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
export CUDA_VISIBLE_DEVICES=0
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1 --gpus-per-node=4
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
