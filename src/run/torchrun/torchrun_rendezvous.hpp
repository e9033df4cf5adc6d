// SPDX-License-Identifier: MIT
// The rendezvous of the agents of a torchrun command line. Pure.
#pragma once

#include "run/torchrun/torchrun_request.hpp"

namespace hpcml::torchrun {

/// Fills in the nodes, the run's name and the place of `plan.request`, and the port of a single machine.
util::Status plan_torchrun_rendezvous(const TorchrunRequest& line, const TorchrunNodeFacts& node,
                                      TorchrunPlan& plan);

} // namespace hpcml::torchrun
