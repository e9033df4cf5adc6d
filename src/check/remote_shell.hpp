// SPDX-License-Identifier: MIT
// ssh and its like from a batch script: whether what they start runs on other nodes of the job.
#pragma once

#include "core/shell/script_commands.hpp"

namespace hpcml::check {

/// Whether the command is ssh, pdsh or clush.
bool is_remote_shell(const shell::Command& command);
/// Whether a remote shell starts programs on a host that may be one of the job's nodes: not a tunnel, nor a
/// host that is written out or the one that the job was submitted on, nor a mere question for a node's name.
bool starts_on_nodes(const shell::Command& command);

} // namespace hpcml::check
