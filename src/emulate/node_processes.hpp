// SPDX-License-Identifier: MIT
// The processes of an emulated node, found by what all of them have in common.
#pragma once

#include <string>

#include <sys/types.h>

#include "core/util/result.hpp"

namespace hpcml::emulate {

/// Returns what a process has in common with all others of its node: the namespace of host names. Empty if
/// the process has exited (also before its parent has waited for it), or is not accessible.
std::string read_node_mark(pid_t pid);

/// Kills every process with the mark, also those that are started meanwhile, and returns when none is left.
util::Status end_processes_of(const std::string& mark);

} // namespace hpcml::emulate
