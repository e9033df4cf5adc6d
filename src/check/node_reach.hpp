// SPDX-License-Identifier: MIT
// Whether a script may start programs on other nodes of its job, or several processes, by itself.
#pragma once

#include "check/subject.hpp"

namespace hpcml::check {

/// Whether the job loads an MPI: a python program of such a job may call its launcher itself.
bool loads_mpi(const LintContext& subject);
/// True if the python program starts others on other nodes by its name or its words: a launcher, a search, or
/// one that gets a list of hosts or the job's number of nodes.
bool starts_nodes(const Link& python);
/// True if the program may reach other nodes by itself, or if the script does not show what it does.
bool may_reach_nodes(const Launch& launch);
/// True if the program of every command of the script is known.
bool shows_all_programs(const LintContext& subject);

} // namespace hpcml::check
