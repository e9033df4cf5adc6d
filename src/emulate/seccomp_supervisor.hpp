// SPDX-License-Identifier: MIT
// Answers the system calls that a node's filter hands over.
#pragma once

#include "core/model/node_shape.hpp"

namespace hpcml::emulate {

/// What the supervised processes are to see.
struct EmulatedNodeView {
  model::CpuShape cpu;
  unsigned first_tag = 0; ///< the node's range of task tags
};

/// Serves `listener` until the last process under the filter is gone. Run it in its own process, outside the
/// filter.
void run_supervisor(int listener, const EmulatedNodeView& node);

} // namespace hpcml::emulate
