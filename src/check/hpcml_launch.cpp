// SPDX-License-Identifier: MIT
#include "check/hpcml_launch.hpp"

#include "check/launch_facts.hpp"
#include "core/model/rank_settings.hpp"

namespace hpcml::check {

std::optional<long> ranks_of_own_launch(const Launch& launch, const LaunchShape& shape) {
  const auto* own = launch.find("hpcml");
  if (own == nullptr) return std::nullopt;
  if (const auto* processes = find_any(*own, {"nproc-per-node", "nproc_per_node"}))
    return processes->value ? number_of(*processes->value, shape) : std::nullopt;
  // Outside a step it starts one for each GPU.
  return launch.step() != nullptr ? std::optional(1L) : shape.gpus_per_node;
}

std::string agent_options_of(const Launch& launch) {
  const auto* own = launch.find("hpcml");
  if (own == nullptr) return {};
  model::RankSettings rank_settings;
  for (const auto& flag : model::k_rank_flags) {
    const auto* option = own->find(flag.name);
    if (option == nullptr) continue;
    // A value that is known only when the script runs is asked for, whatever it is.
    const auto text = flag.is_switch()                          ? "true"
                      : option->value && option->value->known() ? option->value->text()
                                                                : "1";
    if (flag.read(rank_settings, text, {})) continue; // said by launch itself
  }
  return model::options_for_agent(rank_settings);
}

} // namespace hpcml::check
