// SPDX-License-Identifier: MIT
// Per option, what its value may be and where in the request it goes.
#pragma once

#include <optional>
#include <string>

#include "slurm/request.hpp"

namespace hpcml::slurm {

/// Puts the setting's value into the request. Where this version's sbatch refuses the value: what it could be.
std::optional<std::string> read_value(const Setting& setting, Version version, Request& request);

} // namespace hpcml::slurm
