// SPDX-License-Identifier: MIT
// The nodes of one partition: profile against cluster; used by compare.cpp only.
#pragma once

#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/site.hpp"
#include "generate/discover/node_kinds.hpp"

namespace hpcml::discover {

/// Differences, each said once however many partitions show it.
class ProfileDifferences {
public:
  void add(diag::Severity severity, const std::string& rule, const std::string& message,
           const std::string& hint = {});
  diag::Diagnostics take() { return std::move(x_list); }

private:
  diag::Diagnostics x_list;
};

/// Adds where the nodes of a partition differ from what the profile says of them.
void compare_nodes(ProfileDifferences& drift, const model::Site& site, const model::Partition& partition,
                   const std::vector<NodeKind>& kinds);

} // namespace hpcml::discover
