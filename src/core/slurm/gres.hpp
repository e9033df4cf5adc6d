// SPDX-License-Identifier: MIT
// The texts of --gres, --gpus and --gpus-per-*, as each version reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slurm/comparison_tracking_version.hpp"

namespace hpcml::slurm {

/// One item: "gpu:a100:4" is {gpu, a100, 4}.
struct GresItem {
  std::string name;
  std::string type; ///< empty: any
  std::uint64_t count = 1;
};

/// --gres; nullopt where this version cannot read it. "none" is an empty list.
std::optional<std::vector<GresItem>> parse_gres(std::string_view text, ComparisonTrackingVersion version);
/// --gpus, --gpus-per-node, --gpus-per-socket: each item is a count, a type or type:count.
std::optional<std::vector<GresItem>> parse_gpus(std::string_view text, ComparisonTrackingVersion version);
/// --gpus-per-task: as parse_gpus up to 23.02; from 23.11 an item that cannot be read is omitted in silence.
std::optional<std::vector<GresItem>> parse_gpus_per_task(std::string_view text,
                                                         ComparisonTrackingVersion version);
/// --tres-per-task: what is asked per task; "cpu" may be among the names, gres by their bare name.
struct TresPerTask {
  std::vector<GresItem> items;
  bool cpus_count = true; ///< whether this version acts on the CPUs
};
/// The value of --tres-per-task; nullopt where its form is wrong.
std::optional<TresPerTask> parse_tres_per_task(std::string_view text, ComparisonTrackingVersion version);

/// The count of "gpu"; of several the last, as Slurm takes it.
std::uint64_t gpu_count(const std::vector<GresItem>& items);

} // namespace hpcml::slurm
