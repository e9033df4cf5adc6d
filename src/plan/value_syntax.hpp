// SPDX-License-Identifier: MIT
// Values that Slurm reads by a grammar of its own: found wrong here, not after the queue's first look.
#pragma once

#include <optional>
#include <string>

#include "util/result.hpp"

namespace hpcml::plan {

/// What is wrong with the value of "array", "signal" or "dependency"; nothing for other options and for good
/// values.
std::optional<util::Error> find_value_fault(const std::string& option, const std::string& value);

} // namespace hpcml::plan
