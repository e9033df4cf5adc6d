// SPDX-License-Identifier: MIT
// What a step of the planner has to say besides the value that it returns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/origin.hpp"

namespace hpcml::plan {

/// Findings for the user who asks, and notes for --explain, each in their order.
struct PlanStepDiagnostics {
  diag::Diagnostics findings;
  std::vector<std::pair<std::string, model::Origin>> notes; ///< worth saying, and about no line of the script

  /// `fact` is what the profile states; its document is printed with the finding.
  void error(const std::string& code, const std::string& message, const std::string& hint = {},
             const model::Origin& fact = {});
  void warning(const std::string& code, const std::string& message, const std::string& hint = {},
               const model::Origin& fact = {});
  /// Something that was chosen for the request, and how to choose otherwise.
  void report(const std::string& code, const std::string& message, const std::string& hint = {});
  void note(const std::string& text, const model::Origin& origin);
  bool refuse() const { return diag::has_errors(findings); }
};

/// What a step decides, and what is to be reported of it.
template <class T> struct PlanStepResult {
  T value;
  PlanStepDiagnostics remarks = {};
};

/// Appends `later` to the diagnostics.
void add(PlanStepDiagnostics& diagnostics, PlanStepDiagnostics later);
/// Returns the value, and appends its diagnostics to `diagnostics`.
template <class T> T unwrap(PlanStepResult<T> result, PlanStepDiagnostics& diagnostics) {
  add(diagnostics, std::move(result.remarks));
  return std::move(result.value);
}

/// A value that a rule of the planner decided.
inline model::Origin rule_origin(const std::string& rule) {
  return {model::OriginKind::rule, rule, {}, {}, {}};
}

} // namespace hpcml::plan
