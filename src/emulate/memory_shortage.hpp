// SPDX-License-Identifier: MIT
// Lets a job of an emulated node run out of memory, so that the kernel kills a process of it.
#pragma once

#include <string>

#include "core/util/result.hpp"

namespace hpcml::emulate {

/// What the kernel has killed.
struct MemoryVictim {
  std::string name; ///< "python3"
  std::string job;  ///< its number
};

/// Takes the memory that the biggest step in the node's group of processes (node_group) has left,
/// below a limit that is lowered to that for the moment, until the kernel has killed the step's biggest
/// process; of hpcml's own, which start ranks, it does not take one. Waits for a step where there is none
/// yet, some seconds long.
util::Result<MemoryVictim> run_out_of_memory(const std::string& node_group);

} // namespace hpcml::emulate
