// SPDX-License-Identifier: MIT
// Settings for the search of faults that slow every step.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_debug_settings {

struct Setting {
  std::string_view name, value, effect;
};
constexpr std::array<Setting, 6> k_settings = {
    {{"CUDA_LAUNCH_BLOCKING", "1", "waits for every kernel"},
     {"HIP_LAUNCH_BLOCKING", "1", "waits for every kernel"},
     {"AMD_SERIALIZE_KERNEL", "3", "waits for every kernel"},
     {"TORCH_DISTRIBUTED_DEBUG", "DETAIL", "compares every collective between all ranks"},
     {"NCCL_DEBUG", "TRACE", "writes a line for every call"},
     {"NCCL_DEBUG_SUBSYS", "ALL", "writes a line for every collective"}}};

/// True if the value of NCCL_DEBUG_SUBSYS includes all collectives: "INIT,COLL".
bool has_collectives(const std::string& value) {
  const auto parts = util::split(value, ',');
  return std::any_of(parts.begin(), parts.end(),
                     [](const auto& part) { return part == "COLL" || part == "ALL"; });
}

bool is_setting(const Setting& setting, std::string_view name, const std::string& value) {
  return setting.name == name &&
         (setting.value == value || (name == "NCCL_DEBUG_SUBSYS" && has_collectives(value)));
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& seen :
       seen_variables(subject, {"AMD_SERIALIZE_KERNEL", "CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING",
                                "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "TORCH_DISTRIBUTED_DEBUG"})) {
    if (!seen.value->known()) continue;
    const auto* found = std::find_if(k_settings.begin(), k_settings.end(), [&](const Setting& setting) {
      return is_setting(setting, seen.name, seen.value->text());
    });
    if (found == k_settings.end() || is_explained(subject, seen.value->place)) continue;
    add_match(hits,
              {seen.value->place, fmt::format("{}={} {}", found->name, seen.value->text(), found->effect),
               "remove it from real runs: it is for debugging only"});
  }
  return hits;
}

} // namespace launch_debug_settings

Rule rule_launch_debug_settings() {
  using namespace launch_debug_settings;
  return {
      .id = "launch/debug-settings",
      .severity = diag::Severity::note,
      .title = "Debug settings",
      .why = "These settings serialise kernels, check every collective or fill the disk with logs. They make "
             "training several times slower, and stay in scripts after "
             "the fault is gone.",
      .link =
          "https://docs.pytorch.org/docs/stable/distributed.html#debugging-torch-distributed-applications",
      .bad = {R"(#!/bin/bash
export CUDA_LAUNCH_BLOCKING=1
srun python train.py
)"},
      .good = {R"(#!/bin/bash
export CUDA_LAUNCH_BLOCKING=0
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
