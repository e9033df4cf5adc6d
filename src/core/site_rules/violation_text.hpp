// SPDX-License-Identifier: MIT
// The sentences of the site rules. The planner, the check and the emulation all print these.
#pragma once

#include <string>

#include "core/model/site.hpp"
#include "core/site_rules/policy_violation.hpp"

namespace hpcml::site_rules {

/// Returns the sentence for a rule that the job breaks, without the document that states the rule.
std::string describe(const PolicyViolation& violation, const model::Site& site,
                     const ResolvedPlacement& placement, const ResourceRequest& demand);

/// Returns the sentence for a partition name that evaluate_partition_name reports.
std::string describe_partition_name(const PolicyViolation& violation, const model::Site& site);

/// Returns the document that states a fact and the day on which it was read, for example "partitions page,
/// read 2026-11-21". Returns an empty text if the fact has no document.
std::string describe_source(const model::Origin& origin);

} // namespace hpcml::site_rules
