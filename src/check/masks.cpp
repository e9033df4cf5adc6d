// SPDX-License-Identifier: MIT
#include "check/masks.hpp"

#include <algorithm>
#include <utility>

#include "check/launch_facts.hpp"
#include "core/topo/mask_text.hpp"

namespace hpcml::check {

std::optional<StepCpuMasks> masks_of(const Link& step) {
  const auto* option = step.program == "srun" ? step.find("cpu-bind") : nullptr;
  if (!option || !option->value || !option->value->known()) return std::nullopt;
  const auto text = option->value->text();
  const auto at = std::min(text.find("mask_cpu"), text.find("map_cpu"));
  if (at == std::string::npos) return std::nullopt;
  // As many as are listed, "0xfe*4" counted as often as it says.
  const auto list = text.find_first_of(":=", at);
  if (list == std::string::npos) return std::nullopt;
  auto count = static_cast<unsigned>(std::count(text.begin() + static_cast<long>(list), text.end(), ',') + 1);
  if (text.find('*', list) != std::string::npos) {
    const auto all = topo::parse_mask_list(std::string_view(text).substr(list + 1));
    if (!all) return std::nullopt;
    count = static_cast<unsigned>(all->size());
  }
  auto masks = topo::parse_cpu_bind(text, std::min(count, 4096U));
  if (!masks) return std::nullopt;
  return StepCpuMasks{option, std::move(*masks)};
}

std::vector<LaunchWithCpuMasks> masked_launches(const LintContext& subject) {
  std::vector<LaunchWithCpuMasks> list;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->options.empty() || !is_own(launch, *step)) continue;
    if (auto masks = masks_of(*step)) list.push_back({&launch, step, std::move(*masks)});
  }
  return list;
}

const model::NodeType* only_node(const LintContext& subject) {
  return subject.fits.size() == 1 && subject.fits[0].nodes.size() == 1 ? subject.fits[0].nodes[0] : nullptr;
}

} // namespace hpcml::check
