// SPDX-License-Identifier: MIT
// Which GPU comes first where ranks take them in another order than their numbers.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "core/model/gpu_order.hpp"
#include "core/topo/node.hpp"

namespace hpcml::topo {

/// A GPU as far as its turn depends on it.
struct RankGpuOrderKey {
  unsigned index = 0;      ///< its number as the step sees it
  unsigned lowest_cpu = 0; ///< for GpuOrderKind::cpu
};

/// The lowest CPU of the smallest domain that the GPU is known to hang under; nothing where none is known.
std::optional<unsigned> lowest_cpu(const model::CpuShape& shape, const model::GpuLocality& place);

/// The links between GPUs that `numbers` has, in the numbers that it gives them.
std::vector<GpuLink> renumber_links(const std::vector<GpuLink>& links,
                                    const std::map<unsigned, unsigned>& numbers);

/// Positions in `gpus` in the order in which ranks take them; those that a list omits are not among them.
/// `links` are in the same numbers as `gpus`. An error where a list names a GPU that does not exist or one
/// twice, or no ring goes along the links.
util::Result<std::vector<std::size_t>> find_rank_order(const std::vector<RankGpuOrderKey>& gpus,
                                                       const std::vector<GpuLink>& links,
                                                       const model::GpuOrder& order);

} // namespace hpcml::topo
