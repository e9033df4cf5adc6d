// SPDX-License-Identifier: MIT
// torch's own record of the last collectives (NCCL's process group, torch 2.2 and later): switched on into
// the run's folder, and asked for when the ranks stall.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hpcml::agent {

/// What a rank is told, as far as it has not been told otherwise. `folder`: of the attempt. The names are
/// those of torch 2.4 (docs "ProcessGroupNCCL Environment Variables") and those that follow them in later
/// ones.
std::vector<std::pair<std::string, std::string>> flight_recorder_variables(const std::string& directory);

/// Asks the ranks for their records, by the pipe that each has made; those without one are left alone. Nobody
/// is waited for.
void ask_for_flight_records(const std::string& directory, const std::vector<unsigned>& ranks);

} // namespace hpcml::agent
