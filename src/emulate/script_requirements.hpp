// SPDX-License-Identifier: MIT
// What a batch script requests of the cluster that it is rehearsed on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/site.hpp"

namespace hpcml::emulate {

/// What the directives of a script request, and the site that it was written for.
struct ScriptRequirements {
  std::string site;        ///< in the head comment of `hpcml gen`; empty for other scripts
  bool appends = false;    ///< its log is appended to a file that exists
  std::string partition;   ///< the first that it names; empty: it names none
  unsigned nodes = 1;      ///< minimum, of all components of the job together
  bool nodes_given = true; ///< false: Slurm chooses the number by CPUs and GPUs
  std::uint64_t gpus = 0;  ///< of the whole job, if nodes are not given
  std::uint64_t cpus = 0;  ///< the same
};

/// Reads the directives as sbatch does; values that sbatch refuses count as absent.
ScriptRequirements read_script_requirements(std::string_view script);

/// Nodes of this type that the job needs.
unsigned count_needed_nodes(const ScriptRequirements& request, const model::NodeType& type);

} // namespace hpcml::emulate
