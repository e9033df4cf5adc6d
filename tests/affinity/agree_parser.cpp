// SPDX-License-Identifier: MIT
// Judges for texts of other programs.
#include "agree_checks.hpp"
#include "agree_texts.hpp"
#include "core/topo/mask_text.hpp"

namespace hpcml::agree {
namespace {

using model::IdSet;

void compare_masks(const Case& item, const std::vector<IdSet>& masks) {
  std::vector<model::PlannedRankBinding> ranks;
  for (const IdSet& mask : masks) {
    model::PlannedRankBinding rank;
    rank.local_rank = static_cast<unsigned>(ranks.size());
    rank.cpus = mask;
    // The text says nothing of GPUs and NUMA nodes: those that stand beside it are the document's.
    for (const Json& entry : item.expected())
      if (number_of(entry, {"task"}) == rank.local_rank && entry.contains("gpu"))
        rank.gpus = numbers_of(entry.at("gpu"));
    ranks.push_back(std::move(rank));
  }
  compare_ranks(item, ranks);
}

void check_line(const Case& item) {
  const auto bound = parse_verbose_line(text_of(item.request(), {"parse_line"}));
  if (!bound) return item.differ(bound.error().what);
  const Json& entry = item.expected().is_array() ? item.expected().at(0) : item.expected();
  if (bound->task != number_of(entry, {"task"})) item.differ("task " + std::to_string(bound->task) + " read");
  if (!(bound->cpus == cpus_of(entry, {"cpus"}))) item.differ("CPUs " + shown(bound->cpus) + " read");
  const std::string node = text_of(entry, {"node"});
  if (const std::string mask = text_of(entry, {"mask"}); !mask.empty() && bound->cpus.to_mask() != mask)
    item.differ("mask " + bound->cpus.to_mask() + " read");
  if (!node.empty() && bound->node != node) item.differ("node " + bound->node + " read");
}

void check_visible(const Case& item) {
  const Json& table = item.request().at("table");
  const Json& physical = item.expected().at("physical");
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Json& list = table[i].at("cuda_visible_devices");
    const auto got =
        topo::resolve_visible(list.is_string() ? std::optional(list.get<std::string>()) : std::nullopt,
                              number_of(table[i], {"local_index"}));
    const Json answer = got ? Json(*got) : Json(nullptr);
    if (i >= physical.size() || answer != physical[i])
      item.differ("row " + std::to_string(i) + ": " + answer.dump() + " read");
  }
}

void check_numa_affinity(const Case& item, const std::string& text) {
  const auto affinity = parse_numa_affinity(text);
  if (!affinity) return item.differ(affinity.error().what);
  if (!affinity->cpu || *affinity->cpu != number_of(item.expected(), {"cpu_numa"}))
    item.differ("another CPU node read");
  const IdSet memory = cpus_of(item.expected(), {"gpu_memory_numa"});
  if (!(affinity->gpu_memory == memory)) item.differ("GPU memory " + shown(affinity->gpu_memory) + " read");
}

} // namespace

void check_parser(const Case& item) {
  const Json& request = item.request();
  if (request.contains("parse_mask_list")) {
    const auto masks = topo::parse_mask_list(text_of(request, {"parse_mask_list"}));
    return masks ? compare_masks(item, *masks) : item.differ(masks.error().what);
  }
  if (request.contains("parse_mask")) {
    const auto mask = IdSet::parse_mask(text_of(request, {"parse_mask"}));
    return mask ? compare_masks(item, {*mask}) : item.differ(mask.error().what);
  }
  if (const std::string bind = text_of(request, {"cpu_bind", "parse_cpu_bind"}); !bind.empty()) {
    const auto masks = topo::parse_cpu_bind(
        bind, number_of(request, {"tasks"}, static_cast<unsigned>(item.expected().size())));
    return masks ? compare_masks(item, *masks) : item.differ(masks.error().what);
  }
  if (request.contains("parse_line")) return check_line(item);
  if (request.contains("table")) return check_visible(item);
  if (const std::string text = text_of(request, {"parse_nvidia_smi_numa_affinity"}); !text.empty())
    return check_numa_affinity(item, text);
  item.differ("hpcml has no parser for this text: " + request.dump());
}

} // namespace hpcml::agree
