// SPDX-License-Identifier: MIT
// Every workload, launcher and partition of a site as scripts, and scripts just over its limits.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "generate/render/coverage_helper.hpp"

namespace hpcml::test {

struct Case {
  std::string name;
  std::string script;
  std::string
      over; ///< the kind of limit that it is just over, or of name that nobody has: Slurm must refuse it
  std::string words; ///< which the refusal must hold
};

/// `refused` counts the requests that the planner does not take; `coverage` learns which limits are not
/// tried.
std::vector<Case> cases_of(const model::Site& site, unsigned& refused, Coverage& coverage);

} // namespace hpcml::test
