// SPDX-License-Identifier: MIT
// torch's flight recorder of the last collectives (NCCL, torch 2.2 and later): enabled in the directory of
// the run, and requested when the ranks stall.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hpcml::agent {

/// What a rank is told, as far as it has not been told otherwise. `folder`: of the attempt. The names are
/// those of torch 2.4 (docs "ProcessGroupNCCL Environment Variables") and those that follow them in later
/// ones.
std::vector<std::pair<std::string, std::string>> flight_recorder_variables(const std::string& directory);

/// Requests the records of the ranks by the pipe that each has created, without waiting. Ranks without a
/// pipe are skipped.
void ask_for_flight_records(const std::string& directory, const std::vector<unsigned>& ranks);

} // namespace hpcml::agent
