// SPDX-License-Identifier: MIT
// Indices of a job array that sbatch cannot read.
#include "check/rule.hpp"
#include "check/value_fix.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_array {

/// "5-1", "0..9".
std::optional<std::string> respell(std::string_view value) {
  const auto rest = value.find_first_not_of("0123456789-.");
  const auto range = value.substr(0, rest);
  const std::string tail(rest == std::string_view::npos ? "" : value.substr(rest));
  const auto sign = range.find(range.find("..") != std::string_view::npos ? ".." : "-");
  if (sign == std::string_view::npos) return std::nullopt;
  const auto low = util::parse_unsigned(range.substr(0, sign));
  const auto high = util::parse_unsigned(range.substr(range[sign] == '.' ? sign + 2 : sign + 1));
  if (!low || !high) return std::nullopt;
  return std::to_string(std::min(*low, *high)) + "-" + std::to_string(std::max(*low, *high)) + tail;
}

std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  return fix_value(subject, place, respell);
}

} // namespace slurm_array

Rule rule_slurm_array() {
  using namespace slurm_array;
  return {
      .id = "slurm/array",
      .severity = diag::Severity::error,
      .title = "Invalid array specification",
      .why =
          "The indices are numbers, ranges from low to high, with a step after ':' and the most that run at "
          "once after '%'. Anything else is \"Invalid --array specification\".",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_array",
      .bad = {R"(#!/bin/bash
#SBATCH --array=5-1
)"},
      .good = {R"(#!/bin/bash
#SBATCH --array=0-9
#SBATCH --output=%A_%a.log
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
