// SPDX-License-Identifier: MIT
// torch's flight recorder of the last collectives (NCCL, torch 2.2 and later): enabled in the directory of
// the run, and requested when the ranks stall.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hpcml::agent {

/// Returns the variables for a rank, which do not replace existing ones. `directory` is that of the attempt.
/// The names are those of torch 2.4 (docs "ProcessGroupNCCL Environment Variables") and their successors.
std::vector<std::pair<std::string, std::string>> flight_recorder_variables(const std::string& directory);

/// Requests the records of the ranks by the pipe that each has created, without waiting. Ranks without a
/// pipe are skipped.
void ask_for_flight_records(const std::string& directory, const std::vector<unsigned>& ranks);

} // namespace hpcml::agent
