// SPDX-License-Identifier: MIT
// The program at the end of a command's chain: what `env A=1 numactl -l python train.py` runs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hpcml::launch_chain {

/// The last program that the words of a command show.
struct StartedProgram {
  std::size_t at = 0;              ///< its word
  std::vector<std::string> before; ///< the programs in front of it that start others: "nsys", "apptainer"
  std::vector<std::pair<std::string, std::string>> sets; ///< variables that the words before it set
};

/// Returns nothing if the words do not show it: it is in a shell's text, or after unknown options.
std::optional<StartedProgram> find_started_program(const std::vector<std::string>& command);

} // namespace hpcml::launch_chain
