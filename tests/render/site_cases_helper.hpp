// SPDX-License-Identifier: MIT
// Every workload, launcher and partition of a site as scripts, and scripts just over its limits.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/site.hpp"

namespace hpcml::test {

struct Case {
  std::string name;
  std::string script;
  std::string over;  ///< the kind of limit that it is just over, or of name that nobody has: Slurm must refuse it
  std::string words; ///< which the refusal must hold
};

/// The sites where a limit is not known, or the planner refuses the request at it, by kind.
using Untested = std::map<std::string, std::set<std::string>>;

/// `refused` counts the requests that the planner does not take.
std::vector<Case> cases_of(const model::Site& site, unsigned& refused, Untested& untested);

} // namespace hpcml::test
