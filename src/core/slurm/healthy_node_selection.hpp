// SPDX-License-Identifier: MIT
// Which of a job's nodes run its program, where it has more than that needs. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/node_health/bad_node_file.hpp"

namespace hpcml::slurm {

/// The word after a node's name by which it says that nothing is wrong with it.
inline constexpr std::string_view k_healthy = "ok";

struct HealthyNodeSelection {
  std::vector<std::string> chosen; ///< in the job's order; fewer than `need` where no more are healthy
  std::vector<std::string> spare;  ///< healthy, and left over
  std::vector<node_health::BadNode> bad = {}; ///< found now; what was known before is not among them
  bool was_informed =
      true; ///< false: no node said that it is well, so that what they say is not a reason to choose
};

/// `nodes`: of the job. `answers`: a line of each node that answered, its name and k_healthy or what is wrong
/// with it. `known`: found bad before.
HealthyNodeSelection choose_nodes(const std::vector<std::string>& nodes, std::string_view answers,
                                  const std::vector<node_health::BadNode>& known, std::size_t need);
/// `nodes` without those that were found bad before, where enough are left.
std::vector<std::string> without_bad(const std::vector<std::string>& nodes,
                                     const std::vector<node_health::BadNode>& known);

} // namespace hpcml::slurm
