// SPDX-License-Identifier: MIT
#include "run/resolve/gpus.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/gpu_vendor.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

std::vector<std::string> split_visible_list(const std::string& text) {
  std::vector<std::string> entries;
  for (const auto& piece : util::split(text, ',')) {
    const std::string entry(util::trim(piece));
    if (entry.empty() || entry == "-1" || entry == "NoDevFiles")
      break; // as the runtimes do at the first bad entry
    entries.push_back(entry);
  }
  return entries;
}

namespace {

/// Ends the list where the runtimes end it: at the first GPU that does not exist. A launcher cannot check
/// UUIDs.
VisibleGpus of_variable(const std::string& name, const std::string& value, unsigned on_node) {
  VisibleGpus gpus{split_visible_list(value), name, name + "=" + value};
  if (on_node == 0) return gpus;
  const auto absent = std::find_if(gpus.entries.begin(), gpus.entries.end(), [&](const std::string& entry) {
    const auto index = util::parse_unsigned(entry);
    return index && *index >= on_node;
  });
  gpus.cut = absent != gpus.entries.end();
  if (!gpus.cut) return gpus;
  gpus.source =
      fmt::format("{}={} names GPU {}, but this node has {}: the runtime ignores this entry and the "
                  "following ones",
                  name, value, *absent, on_node == 1 ? "GPU 0" : fmt::format("GPUs 0-{}", on_node - 1));
  gpus.entries.erase(absent, gpus.entries.end());
  return gpus;
}

} // namespace

VisibleGpus find_visible_gpus(const util::EnvSnapshot& env, const std::string& preferred, unsigned on_node) {
  std::vector<std::string> names;
  if (!preferred.empty()) names.push_back(preferred);
  for (const auto* name : model::k_visible_devices_variables)
    if (name != preferred) names.emplace_back(name);
  for (const auto& name : names)
    if (const auto value = env.get(name)) return of_variable(name, *value, on_node);
  // srun --gpu-bind=none leaves the runtime's variable unset in some versions: all GPUs of the node's job are
  // visible then.
  for (const auto* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"})
    if (const auto value = env.get(name); value && on_node == 0)
      return {split_visible_list(*value), "", std::string(name) + "=" + *value};
  unsigned count = on_node;
  std::string source = "the node's devices";
  if (count == 0) {
    const auto gpu_count = util::parse_unsigned(env.get_or("SLURM_GPUS_ON_NODE", ""));
    count = gpu_count && *gpu_count < 1024 ? static_cast<unsigned>(*gpu_count) : 0;
    if (count > 0) source = "SLURM_GPUS_ON_NODE=" + std::to_string(count);
  }
  VisibleGpus gpus{{}, "", source};
  for (unsigned i = 0; i < count; ++i) gpus.entries.push_back(std::to_string(i));
  return gpus;
}

VisibleGpus reorder_gpus(const VisibleGpus& gpus, const std::vector<std::size_t>& positions,
                         const std::string& why) {
  VisibleGpus ordered{{}, gpus.variable, gpus.source + ", " + why, gpus.cut};
  for (const auto position : positions) ordered.entries.push_back(gpus.entries[position]);
  return ordered;
}

util::Status check_gpus(const VisibleGpus& gpus, const util::EnvSnapshot& env, unsigned ranks,
                        unsigned per_rank) {
  const auto count = gpus.entries.size();
  if (count < per_rank)
    return util::Error{fmt::format("this rank requires {}, but {} visible ({})",
                                   util::counted(per_rank, "GPU"),
                                   count == 0   ? "none is"
                                   : count == 1 ? "only 1 is"
                                                : fmt::format("only {} are", count),
                                   gpus.source),
                       "request the GPUs for the job and the step (gen --gpus-per-node), or run `srun "
                       "nvidia-smi -L` (`srun rocm-smi`) to see the GPUs of a task"};
  const auto whole = static_cast<std::size_t>(ranks) * per_rank;
  if (count >= whole) return util::Success{};
  const auto on_node = util::parse_unsigned(env.get_or("SLURM_GPUS_ON_NODE", ""));
  const bool own_list = count == per_rank && (!on_node || *on_node >= whole);
  if (own_list) return util::Success{};
  return util::Error{
      fmt::format("the {} ranks of this node require {}, but {} are visible ({})", ranks,
                  util::counted(whole, "GPU"), count, gpus.source),
      "request more GPUs on each node for the job and the step (gen --gpus-per-node), or use fewer "
      "ranks on each node"};
}

std::string gpus_of_local_rank(const VisibleGpus& gpus, unsigned local_rank, unsigned ranks,
                               unsigned per_rank) {
  const auto& all = gpus.entries;
  if (per_rank == 0 || all.empty() || (all.size() == per_rank && ranks > 1)) return util::join(all, ",");
  std::size_t first = static_cast<std::size_t>(local_rank) * per_rank;
  if (first + per_rank > all.size())
    first = (static_cast<std::size_t>(local_rank) * all.size() / std::max(1U, ranks));
  const auto last = std::min(all.size(), first + per_rank);
  return util::join(
      {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)},
      ",");
}

} // namespace hpcml::launch
