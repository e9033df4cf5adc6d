// SPDX-License-Identifier: MIT
// Why a rank got what it got, in sentences.
#pragma once

#include <string>
#include <vector>

#include "core/topo/core_allocation.hpp"

namespace hpcml::topo {

/// "GPU 0 is under L3 6 of NUMA 3; cores 49-55, core 48 is reserved". `mine` are the rank's claims.
std::string reason_text(const model::PlannedRankBinding& binding, const std::vector<const CoreRequest*>& mine,
                        const std::vector<Pool>& pools, const CoreAllocation& share);

/// What a person should know about the rank: cores far from its GPU, fewer cores than asked for.
std::vector<std::string> share_warnings(unsigned rank, const std::vector<const CoreRequest*>& mine,
                                        const std::vector<Pool>& pools, const CoreAllocation& share,
                                        unsigned wanted);

} // namespace hpcml::topo
