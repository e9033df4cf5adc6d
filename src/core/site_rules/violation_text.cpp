// SPDX-License-Identifier: MIT
#include "core/site_rules/violation_text.hpp"

#include <fmt/format.h>

#include "core/site_rules/site_rule_table.hpp"

namespace hpcml::site_rules {

std::string describe(const PolicyViolation& violation, const model::Site& site,
                     const ResolvedPlacement& placement, const ResourceRequest& demand) {
  auto sentence = row_of(violation.rule).sentence({violation, site, placement, demand});
  if (violation.reservable) sentence += "; the reservation of the job may allow it";
  return sentence;
}

std::string describe_partition_name(const PolicyViolation& violation, const model::Site& site) {
  if (violation.rule == SiteRule::partition_not_described)
    return fmt::format("the profile of {} lists partition '{}' but does not describe it", site.name,
                       violation.name);
  if (violation.certainty == Confidence::advisory)
    return fmt::format("the profile of {} does not list partition '{}', which may belong to a group",
                       site.name, violation.name);
  return fmt::format("the profile of {} has no partition '{}'", site.name, violation.name);
}

std::string describe_source(const model::Origin& origin) {
  if (origin.source.empty()) return {};
  return origin.checked.empty() ? origin.source.text()
                                : fmt::format("{}, read {}", origin.source.text(), origin.checked.text());
}

} // namespace hpcml::site_rules
