// SPDX-License-Identifier: MIT
// CPU masks and device lists as other programs write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/id_set.hpp"
#include "core/util/result.hpp"

namespace hpcml::topo {

/// Slurm's list of masks: "0xfe,fe00", each with an optional "*COUNT".
util::Result<std::vector<model::IdSet>> parse_mask_list(std::string_view text);

/// srun's --cpu-bind with explicit CPUs for `tasks` local tasks: "v,mask_cpu:0xfe,0xfe00", "map_cpu=1,9"; a
/// short list starts again from its head. An error for any other binding, which has no separate CPUs.
util::Result<std::vector<model::IdSet>> parse_cpu_bind(std::string_view text, unsigned tasks);

/// "mask_cpu:0xfe,0xfe00" for srun; every mask with its 0x, without which "*COUNT" would be misread.
std::string render_cpu_bind(const std::vector<model::IdSet>& masks);

/// The physical GPU after index `local` of CUDA_VISIBLE_DEVICES and its like; nothing where the list is
/// unset, empty as well short, or names a device by UUID that `uuids` (by physical index) does not have.
/// Devices after an entry that names none are not visible, as CUDA has it.
std::optional<unsigned> resolve_visible(const std::optional<std::string>& list, unsigned local,
                                        const std::vector<std::string>& uuids = {});

} // namespace hpcml::topo
