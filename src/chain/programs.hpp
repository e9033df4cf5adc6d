// SPDX-License-Identifier: MIT
// The one list of programs that start others: launchers, containers, environments, profilers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpcml::chain {

/// What a program is in a chain.
enum class Role : std::uint8_t {
  other,
  step,      ///< starts tasks on the job's nodes: srun, mpirun, mpiexec, ibrun, horovodrun
  agent,     ///< starts processes on its node: torchrun, accelerate, deepspeed, composer
  container, ///< singularity, apptainer, shifter, podman-hpc
};

/// A program that starts others: which of its options take the next word as their value, and what stands
/// before the program.
struct Wrapper {
  std::string_view name;
  std::string_view values;           ///< options with a value, each between blanks
  std::string_view optional = "";    ///< whose value is only ever behind "="
  std::size_t operands = 0;          ///< words before the next program
  std::string_view subcommands = ""; ///< one of these comes first, each between blanks
  std::string_view single_dash = ""; ///< "long" options with one dash are options, too
  std::string_view flags = "";       ///< options without a value, where all options are known; else empty
  std::string_view variables = "";   ///< of each option there is a variable with this in front: PET_NNODES
  bool abbreviates = false;          ///< takes the beginning of an option for it, where it is of one alone
};

/// Apptainer and Singularity set what begins so, without this beginning, for the programs of their image.
inline constexpr std::array<std::string_view, 2> k_image_variables = {"APPTAINERENV_", "SINGULARITYENV_"};

/// The name under which a program is known that has several: "orterun" and "mpirun.openmpi" are mpirun,
/// "accelerate-launch" is accelerate; empty for other names.
std::string_view usual_name(std::string_view program);
/// Whether the program's name has its subcommand in it: "accelerate-launch".
bool has_subcommand_in_name(const Wrapper& wrapper, std::string_view program);
/// What is known of a program's words by its name without folder ("apptainer", "bede-mpirun"); nothing of
/// other programs.
const Wrapper* find_wrapper(std::string_view program);
/// What a program of this name is.
Role role_of(std::string_view program);
/// The option that the program takes `written` ("--nnode") for; itself where it is no beginning of one alone.
std::string full_option(const Wrapper& wrapper, std::string_view written);
/// The launcher that `python -m MODULE` is ("torch.distributed.run" is torchrun); empty for other modules.
std::string_view launcher_of_module(std::string_view module);

} // namespace hpcml::chain
