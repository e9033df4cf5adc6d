// SPDX-License-Identifier: MIT
// Which nodes a job uses and which it excludes, asked of Slurm and of the nodes themselves.
#pragma once

#include <string>
#include <vector>

#include "core/node_health/bad_node_file.hpp"
#include "core/slurm/commands.hpp"
#include "core/slurm/healthy_node_selection.hpp"
#include "core/slurm/node_exclusion.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/batch/batch_request.hpp"

namespace hpcml::batch {

/// The nodes in a file of bad nodes; none if there is no such file, or its name is empty.
util::Result<std::vector<node_health::BadNode>> read_bad_nodes(const std::string& file);

/// The exclude list of a job with its bad nodes added. Errors if Slurm does not answer.
util::Result<slurm::ExcludeListUpdate> find_exclusion(const slurm::Commands& commands, const std::string& job,
                                                      const std::vector<node_health::BadNode>& bad);

/// True if one of the nodes of hostlist `nodes` is to be excluded and was not before.
bool concerns(const std::string& nodes, const slurm::ExcludeListUpdate& exclusion);

/// True if Slurm reports a node of a hostlist as down, failed or without an answer; false if slurmctld does
/// not answer.
bool has_lost_node(const slurm::Commands& commands, const std::string& nodes);

/// The healthy nodes of a job that run its program, as a hostlist, after a check on each node; empty if too
/// few are healthy. Reports what it finds, and records bad nodes in HPCML_BAD_NODES.
std::string choose_program_nodes(const BatchRequest& request, const util::EnvSnapshot& env);

} // namespace hpcml::batch
