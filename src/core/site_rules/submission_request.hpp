// SPDX-License-Identifier: MIT
// Where and with what a job of a site is submitted.
#pragma once

#include <string>
#include <vector>

#include "core/site_rules/facts.hpp"

namespace hpcml::site_rules {

/// What holds for one job.
struct SubmitMethod {
  std::vector<std::string> hosts;                  ///< login nodes that take it; empty: all
  const model::ConditionalText* command = nullptr; ///< where it is not sbatch
};
/// How the site takes a job of these facts.
SubmitMethod submit_method_of(const model::Site& site, const JobFacts& facts);

} // namespace hpcml::site_rules
