// SPDX-License-Identifier: MIT
#include "generate/plan/unknown_name.hpp"

#include "core/util/text.hpp"

namespace hpcml::plan {

diag::Diagnostic describe_unknown_partition(const model::Site& site,
                                            const site_rules::PolicyViolation& violation) {
  const auto& wanted = violation.name;
  if (violation.certainty == site_rules::Confidence::advisory)
    return {diag::Severity::warning,
            "request/partition",
            violation.rule == site_rules::SiteRule::partition_not_described
                ? "the profile of " + site.name + " tells nothing of partition '" + wanted +
                      "' but that it exists"
                : "the profile of " + site.name + " does not list partition '" + wanted +
                      "': it can only be one that a group has of its own",
            {},
            "nodes, limits and bindings are not checked"};
  std::vector<std::string> names;
  for (const auto& partition : site.partitions)
    if (partition.nameable) names.push_back(partition.name);
  const auto near = util::nearest(wanted, names);
  return {diag::Severity::error,
          "request/partition",
          "the profile of " + site.name + " has no partition '" + wanted + "'",
          {},
          (near ? "did you mean " + *near + "? " : std::string()) +
              (names.empty() ? "leave --partition out"
                             : "it knows " + util::join(names, ", ") +
                                   "; what else the site has goes into a profile of your own "
                                   "(docs/guides/site-profiles.md)")};
}

} // namespace hpcml::plan
