// SPDX-License-Identifier: MIT
// The filter under which a node's processes run: which of their system calls the node's supervisor answers.
#pragma once

#include "core/util/result.hpp"

namespace hpcml::emulate {

/// Puts the calling thread, and all it will start, under the filter for good; returns the descriptor on which
/// a supervisor outside the filter receives of the calls. Without CAP_SYS_ADMIN it gives up setuid programs.
/// `only_root_exists`: in a user namespace with one user, setgroups succeeds and does nothing.
util::Result<int> install_node_filter(bool only_root_exists);

} // namespace hpcml::emulate
