// SPDX-License-Identifier: MIT
// In which order a step's nodes are numbered, and on which of them its first task is, where the variables of
// a task do not state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/slurm/step_env.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::slurm {

/// The nodes of a step by their numbers, and where its first task is.
struct StepNodes {
  std::vector<std::string> names;
  std::vector<unsigned> tasks; ///< one per node
  std::string first;           ///< the node of task 0
};

/// Puts nodes that are sorted by name into the order of the components of a heterogeneous job, which number
/// them; unchanged where they are not such job's.
void put_components_in_order(const util::EnvSnapshot& env, StepTaskPosition& layout);

/// True if the step has nodes of several components of a heterogeneous job: tasks of one do not get the
/// options of the others.
bool spans_components(const util::EnvSnapshot& env, const StepTaskPosition& layout);

/// Hosts in the words of a file for SLURM_HOSTFILE: one or several with commas on a line, "node*3",
/// comments. Empty where it is none.
std::vector<std::string> read_host_file(std::string_view text);

/// Reads what `sattach --layout` prints.
util::Result<StepNodes> parse_step_nodes(std::string_view text);

/// Asks Slurm for the step of these variables. One question to the controller: for the few whose variables do
/// not state.
util::Result<StepNodes> ask_step_nodes(const util::EnvSnapshot& env);

} // namespace hpcml::slurm
