// SPDX-License-Identifier: MIT
#include "plan/unknown_name.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::plan {

diag::Diagnostic unknown_partition(const model::Site& site, const std::string& wanted) {
  if (const auto& others = site.other_partitions;
      std::find(others.begin(), others.end(), wanted) != others.end() ||
      std::find(others.begin(), others.end(), "*") != others.end())
    return {diag::Severity::warning,
            "request/partition",
            std::find(others.begin(), others.end(), wanted) != others.end()
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
          site.name + " has no partition '" + wanted + "'",
          {},
          (near ? "did you mean " + *near + "? " : std::string()) +
              (names.empty() ? "leave --partition out" : "partitions: " + util::join(names, ", "))};
}

} // namespace hpcml::plan
