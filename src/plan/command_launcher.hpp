// SPDX-License-Identifier: MIT
// Launchers that stand in the command itself: torchrun, srun, mpirun, and the agents' own options.
#pragma once

#include "plan/plan_context.hpp"

namespace hpcml::plan {

/// Where the command is `torchrun OPTIONS program` (or accelerate's, or only OPTIONS under --launcher
/// torchrun): the request gets what its options say, the job's launcher becomes that one, and the command the
/// program. All other launchers in commands stay for check_inner_launchers.
void take_command_launcher(PlanContext& context);
/// Refuses commands with a launcher that each rank would start anew; says the line to type instead.
void check_inner_launchers(PlanContext& context);

} // namespace hpcml::plan
