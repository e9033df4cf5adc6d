// SPDX-License-Identifier: MIT
// A rule of `hpcml check`: what it looks for, why, and examples that are its own test.
#pragma once

#include <string_view>
#include <vector>

#include "slurm/request.hpp"
#include "slurm/script_header.hpp"

namespace hpcml::check {

/// What a rule sees: one script as one version of sbatch reads it.
struct Script {
  std::string_view text;
  slurm::Version version;
  const slurm::ScriptHeader& header;
  const std::vector<slurm::Request>& requests; ///< one per component
};

/// A place in the script where the rule is broken.
struct Hit {
  slurm::Place place;
  std::string message; ///< one sentence
  std::string hint = {};
};

struct Rule {
  std::string_view id; ///< "directive/after-command"
  diag::Severity severity;
  std::string_view title;
  std::string_view why;  ///< the failure that it prevents
  std::string_view link; ///< where that is written
  std::vector<std::string_view> bad;  ///< scripts that it must find
  std::vector<std::string_view> good; ///< scripts that it must leave alone
  std::vector<Hit> (*find)(const Script&);
};

/// Every rule, in the order of its pages.
const std::vector<const Rule*>& all_rules();

} // namespace hpcml::check
