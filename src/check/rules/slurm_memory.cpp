// SPDX-License-Identifier: MIT
// An amount of memory that sbatch cannot read.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/value_fix.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_memory {

/// "64GiB", "1.5G".
std::optional<std::string> respell(std::string_view value) {
  const auto digits = std::min(value.find_first_not_of("0123456789."), value.size());
  const std::string number(value.substr(0, digits));
  const auto unit = util::to_lower(value.substr(digits));
  if (number.empty() || unit.empty() ||
      (unit.size() > 1 && unit != unit.substr(0, 1) + "i" && unit != unit.substr(0, 1) + "ib" &&
       unit != unit.substr(0, 1) + "b"))
    return std::nullopt;
  const char letter = static_cast<char>(unit[0] - 'a' + 'A');
  if (number.find('.') == std::string::npos) return number + letter;
  constexpr std::string_view k_units = "KMGT";
  const auto larger = k_units.find(letter);
  if (larger == std::string_view::npos || larger == 0 || std::count(number.begin(), number.end(), '.') > 1)
    return std::nullopt;
  const double amount = std::strtod(number.c_str(), nullptr) * 1024;
  if (amount > 1e15) return std::nullopt;
  return fmt::format("{:.0f}{}", amount, k_units[larger - 1]);
}

std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  return fix_value(subject, place, respell);
}

} // namespace slurm_memory

Rule rule_slurm_memory() {
  using namespace slurm_memory;
  return {
      .id = "slurm/memory",
      .severity = diag::Severity::error,
      .title = "Invalid memory size",
      .why =
          "Slurm takes whole numbers with K, M, G or T (also KB, MB, GB, TB), MB without a unit. Fractions, "
          "GiB and units after a space are refused.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_mem",
      .bad = {R"(#!/bin/bash
#SBATCH --mem=64GiB
)"},
      .good = {R"(#!/bin/bash
#SBATCH --mem=64G
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
