// SPDX-License-Identifier: MIT
// The words of a program that starts another one: which belong to it, and where the other one begins.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::model {

/// The command line of a program that starts another one. Lists are words between spaces: " -n --np ".
struct ProgramSyntax {
  std::string_view name;             ///< without its directory
  std::string_view values = "";      ///< options that take the next word as their value
  std::string_view pairs = "";       ///< options that take the next two words: `--mca btl tcp`
  std::size_t operands = 0;          ///< words before the next program
  std::string_view subcommands = ""; ///< one of these comes first
  std::string_view flags = "";       ///< options without a value, where all options are known; else empty
  std::string_view variables = "";   ///< of each option there is a variable with this in front: PET_NNODES
  bool joins_letters = false;        ///< takes a value right after an option's letter: `-B/data`
  bool abbreviates = false;          ///< takes the beginning of an option for it, where it is of one alone

  /// What starts it: its name and, where it has them, its first subcommand.
  std::vector<std::string> start() const;
};

} // namespace hpcml::model
