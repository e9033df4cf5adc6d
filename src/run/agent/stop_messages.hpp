// SPDX-License-Identifier: MIT
// Messages about why all ranks are stopped, and what happens next. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/util/log.hpp"
#include "run/agent/agent_protocol.hpp"

namespace hpcml::agent {

/// Returns the lines of the message when all ranks are stopped or the run failed. `world_size`: number of
/// ranks that were running.
std::vector<std::string> render_stop(const AgentCommand& order, unsigned max_restarts, unsigned world_size);

/// Returns the level of that message: info if nothing failed, as after a signal.
util::LogLevel level_of_stop(const AgentCommand& order);

/// Returns the stack traces of stalled ranks, for a file; empty if none were read.
std::string render_stalled(const AgentCommand& order);

} // namespace hpcml::agent
