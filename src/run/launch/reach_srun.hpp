// SPDX-License-Identifier: MIT
// srun is notified of the end of a task only if it can be reached.
#pragma once

#include <cstdint>
#include <functional>

#include "core/util/env_snapshot.hpp"

namespace hpcml::launch {

/// For a task of a step that has lost another node: waits until this node reaches the machine of its srun, or
/// until `is_over`. slurmstepd says a task's end to srun six times within about a minute, and then no more
/// (Slurm 20.11 to 26.05, src/slurmd/slurmstepd/mgr.c): an srun that has not heard it waits on until the
/// job's limit. Returns at once outside of a step, and where that machine answers. `quiet_port`: of that
/// machine, which may be connected to without a word, also where nobody listens there; srun complains about
/// such connections, and is tried only where that port says nothing.
void wait_until_srun_is_reached(const util::EnvSnapshot& env, std::uint16_t quiet_port,
                                const std::function<bool()>& is_over);

} // namespace hpcml::launch
