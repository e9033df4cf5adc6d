// SPDX-License-Identifier: MIT
// What is reported of names that a site does not have, for every planner that takes requests.
#pragma once

#include "core/diag/diagnostic.hpp"
#include "core/site_rules/policy_violation.hpp"

namespace hpcml::plan {

/// What is reported of a partition that the profile does not describe, with the name that was probably meant.
diag::Diagnostic describe_unknown_partition(const model::Site& site,
                                            const site_rules::PolicyViolation& violation);

} // namespace hpcml::plan
