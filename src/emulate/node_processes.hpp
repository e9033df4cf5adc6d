// SPDX-License-Identifier: MIT
// The processes of an emulated node, found by what all of them have in common.
#pragma once

#include <string>

#include <sys/types.h>

#include "core/util/result.hpp"

namespace hpcml::emulate {

/// What a process has in common with all others of its node: the name space of host names. Empty where the
/// process has ended (also if nobody has waited for it yet), or may not be looked at.
std::string read_node_mark(pid_t pid);

/// Kills every process with the mark, also those that are started meanwhile, and returns when none is left.
util::Status end_processes_of(const std::string& mark);

} // namespace hpcml::emulate
