// SPDX-License-Identifier: MIT
// Why all ranks are stopped, and what happens next, in words. Pure.
#pragma once

#include <string>

#include "agent/words.hpp"

namespace hpcml::agent {

/// "rank 9 (local rank 1 on host node002, GPU 1) was killed by SIGSEGV after 12.3 s"
std::string describe_failure(const FailureNote& note);

/// What the agent of the first node says when all ranks are stopped, or the run ends without success.
std::string render_stop(const Order& order, unsigned max_restarts);

} // namespace hpcml::agent
