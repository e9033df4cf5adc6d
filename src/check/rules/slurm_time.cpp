// SPDX-License-Identifier: MIT
// A time limit that sbatch cannot read.
#include <algorithm>

#include "check/rule.hpp"
#include "check/value_fix.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_time {

/// "2h", "90min", "3days", and "1:00:00:00" for a day.
std::optional<std::string> respell(std::string_view value) {
  const auto digits = std::min(value.find_first_not_of("0123456789"), value.size());
  const std::string number(value.substr(0, digits));
  if (number.empty() || digits == value.size()) return std::nullopt;
  const auto unit = util::to_lower(value.substr(digits));
  if (unit == "h" || unit == "hr" || unit == "hrs" || unit == "hour" || unit == "hours")
    return number + ":00:00";
  if (unit == "m" || unit == "min" || unit == "mins" || unit == "minutes") return number;
  if (unit == "d" || unit == "day" || unit == "days") return number + "-00:00:00";
  if (unit[0] == ':' && std::count(value.begin(), value.end(), ':') == 3)
    return number + "-" + std::string(value.substr(digits + 1));
  return std::nullopt;
}

std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  return fix_value(subject, place, respell);
}

} // namespace slurm_time

Rule rule_slurm_time() {
  using namespace slurm_time;
  return {
      .id = "slurm/time",
      .severity = diag::Severity::error,
      .title = "Invalid time",
      .why = "Slurm knows minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM and D-HH:MM:SS, and nothing with letters: "
             "\"Invalid --time "
             "specification\", and no job is made.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_time",
      .bad = {R"(#!/bin/bash
#SBATCH --time=2h
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=2:00:00
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
