// SPDX-License-Identifier: MIT
// The parts of a job file that are no flags: several programs, several jobs, chains.
#pragma once

#include "core/config/job_file.hpp"
#include "core/config/object_reader.hpp"

namespace hpcml::config {

/// Reads "steps" of one job: a list of {"command": […]}, with "once": true for one process only. Sets the
/// job's main command, too.
void read_steps(model::JobSpec& job, ObjectReader& object);
/// Reads "components": what each component of a heterogeneous job says itself, its "command" included.
void read_components(model::JobSpec& job, ObjectReader& object);
/// Reads "chain" and "chain-if".
void read_chain(ObjectReader& object, std::optional<unsigned>& chain, std::optional<std::string>& chain_if);
/// Reads "jobs", and puts each behind those that it waits for.
std::vector<JobPart> read_parts(ReadContext& context, ObjectReader& root);

} // namespace hpcml::config
