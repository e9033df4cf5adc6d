// SPDX-License-Identifier: MIT
// srun is notified of the end of a task only if it can be reached.
#pragma once

#include <cstdint>
#include <functional>

#include "core/util/env_snapshot.hpp"

namespace hpcml::launch {

/// Waits in a step that lost another node until this node reaches the machine of its srun, or until
/// `is_over`. slurmstepd reports a task's exit to srun six times within about a minute (Slurm 20.11 to
/// 26.05, src/slurmd/slurmstepd/mgr.c); an srun that receives none of them waits until the job's time limit.
/// Returns at once outside a step, and if that machine answers. `quiet_port` of that machine accepts or
/// refuses connections without a message. srun complains about such connections, so that its own port is
/// tried only if `quiet_port` does not answer.
void wait_until_srun_is_reached(const util::EnvSnapshot& env, std::uint16_t quiet_port,
                                const std::function<bool()>& is_over);

} // namespace hpcml::launch
