// SPDX-License-Identifier: MIT
// A value after an option that takes none.
#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_value_unwanted {

std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  const auto word = subject.text.substr(place.offset, place.length);
  const auto equals = word.find('=');
  if (equals == std::string_view::npos) return {};
  const auto value = util::to_lower(word.substr(equals + 1));
  if (value != "yes" && value != "true" && value != "1" && value != "on" && !value.empty()) return {};
  return {{place.offset + equals, place.length - equals, ""}};
}

} // namespace slurm_value_unwanted

Rule rule_slurm_value_unwanted() {
  using namespace slurm_value_unwanted;
  return {
      .id = "slurm/value-unwanted",
      .severity = diag::Severity::error,
      .title = "Value for an option without one",
      .why =
          "Options such as --hold or --requeue are switches; with =yes after them sbatch stops with \"option "
          "doesn't allow an argument\".",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --hold=yes
)"},
      .good = {R"(#!/bin/bash
#SBATCH --hold
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
