// SPDX-License-Identifier: MIT
#include "generate/plan/plan_step_diagnostics.hpp"

#include <iterator>

#include "core/site_rules/violation_text.hpp"

namespace hpcml::plan {

void PlanStepDiagnostics::error(const std::string& code, const std::string& message, const std::string& hint,
                                const model::Origin& fact) {
  findings.push_back({diag::Severity::error, code, message, {}, hint, site_rules::describe_source(fact)});
}

void PlanStepDiagnostics::warning(const std::string& code, const std::string& message,
                                  const std::string& hint, const model::Origin& fact) {
  findings.push_back({diag::Severity::warning, code, message, {}, hint, site_rules::describe_source(fact)});
}

void PlanStepDiagnostics::report(const std::string& code, const std::string& message,
                                 const std::string& hint) {
  findings.push_back({diag::Severity::note, code, message, {}, hint});
}

void PlanStepDiagnostics::note(const std::string& text, const model::Origin& origin) {
  notes.emplace_back(text, origin);
}

void add(PlanStepDiagnostics& diagnostics, PlanStepDiagnostics later) {
  diagnostics.findings.insert(diagnostics.findings.end(), std::make_move_iterator(later.findings.begin()),
                              std::make_move_iterator(later.findings.end()));
  diagnostics.notes.insert(diagnostics.notes.end(), std::make_move_iterator(later.notes.begin()),
                           std::make_move_iterator(later.notes.end()));
}

} // namespace hpcml::plan
