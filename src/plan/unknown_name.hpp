// SPDX-License-Identifier: MIT
// What is said of names that a site does not have, for every planner that takes requests.
#pragma once

#include <string>

#include "diag/diagnostic.hpp"
#include "model/site.hpp"

namespace hpcml::plan {

/// What is said of a partition that the site does not have, with the name that was probably meant.
diag::Diagnostic unknown_partition(const model::Site& site, const std::string& wanted);

} // namespace hpcml::plan
