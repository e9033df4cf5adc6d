// SPDX-License-Identifier: MIT
// Messages about why all ranks are stopped, and what happens next. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/util/log.hpp"
#include "run/agent/agent_protocol.hpp"

namespace hpcml::agent {

/// What people are told, a line each, when all ranks are stopped or the run ends without success.
/// `world_size`: of the ranks that were running.
std::vector<std::string> render_stop(const AgentCommand& order, unsigned max_restarts, unsigned world_size);

/// Returns the level of that message: info if nothing failed, as after a signal.
util::LogLevel level_of_stop(const AgentCommand& order);

/// The ranks that stalled, by where they are, for a file; empty where nobody has looked.
std::string render_stalled(const AgentCommand& order);

} // namespace hpcml::agent
