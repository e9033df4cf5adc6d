// SPDX-License-Identifier: MIT
// The CPUs of this process: what the kernel allows, and setting them.
#pragma once

#include "core/model/id_set.hpp"
#include "core/util/result.hpp"
#include "run/launch/system.hpp"

namespace hpcml::launch {

/// Returns the CPUs of this process from /proc/self/status (Cpus_allowed_list), for reports.
util::Result<model::IdSet> read_status_cpus(System& system);

/// Binds this process (and what it execs) to `cpus`; the error says what the kernel allows instead.
util::Status apply_affinity(System& system, const model::IdSet& cpus);

/// Prefers memory of the NUMA nodes `nodes`, if there are any. A missing permission is not an error: the
/// kernel's default prefers the local node as well.
void prefer_memory(System& system, const model::IdSet& nodes);

} // namespace hpcml::launch
