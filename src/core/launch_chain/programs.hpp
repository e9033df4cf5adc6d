// SPDX-License-Identifier: MIT
// Programs that start others: launchers and containers by their rows in src/core/model, environments and
// profilers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/program_syntax.hpp"

namespace hpcml::launch_chain {

/// What a program is in a chain.
enum class Role : std::uint8_t {
  other,
  step,      ///< starts tasks on the job's nodes: srun, mpirun
  agent,     ///< starts processes on its node: torchrun
  container, ///< runs what is after it in an image
};

/// What is known of a program's words by its name without directory ("apptainer", "bede-mpirun"); nothing of
/// other programs.
const model::ProgramSyntax* find_wrapper(std::string_view program);
/// What a program of this name is.
Role role_of(std::string_view program);
/// Returns the option that `written` ("--nnode") abbreviates, else `written` itself.
std::string full_option(const model::ProgramSyntax& wrapper, std::string_view written);

} // namespace hpcml::launch_chain
