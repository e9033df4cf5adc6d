// SPDX-License-Identifier: MIT
// The order of GPUs in which neighbours are linked best.
#pragma once

#include <vector>

#include "core/topo/node.hpp"

namespace hpcml::topo {

/// A ring through all of `gpus` (indices) along `links`, starting at the lowest: the one whose narrowest link
/// is widest, then the one with the widest links in total, then the one with the lowest numbers first. Up to
/// nine GPUs the best there is; with more each takes its widest link to one that is not in the ring yet. An
/// error where no ring goes along links.
util::Result<std::vector<unsigned>> find_ring(const std::vector<unsigned>& gpus,
                                              const std::vector<GpuLink>& links);

/// Whether every GPU is linked with every other, all by the same width.
bool is_linked_alike(const Node& node);

} // namespace hpcml::topo
