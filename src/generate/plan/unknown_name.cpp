// SPDX-License-Identifier: MIT
#include "generate/plan/unknown_name.hpp"

#include <fmt/format.h>

#include "core/site_rules/site_text.hpp"
#include "core/site_rules/violation_text.hpp"
#include "core/util/choice_hint.hpp"
#include "core/util/text.hpp"

namespace hpcml::plan {

diag::Diagnostic describe_unknown_partition(const model::Site& site,
                                            const site_rules::PolicyViolation& violation) {
  const auto what = site_rules::describe_partition_name(violation, site);
  if (violation.certainty == site_rules::Confidence::advisory)
    return {
        diag::Severity::warning, "request/partition", what, {}, "check nodes, limits and bindings yourself"};
  std::vector<std::string> names;
  for (const auto& partition : site.partitions)
    if (partition.nameable) names.push_back(partition.name);
  return {diag::Severity::error,
          "request/partition",
          what,
          {},
          names.empty()
              ? "remove --partition"
              : fmt::format("{}, or add the partition to your own profile (docs/guides/site-profiles.md)",
                            util::choice_hint(violation.name, names, site_rules::show_command(site)))};
}

} // namespace hpcml::plan
