// SPDX-License-Identifier: MIT
// What the rules of the group "site" share: the parts of a job at a site, where a fact comes from, edits of
// directives.
#pragma once

#include <string>
#include <vector>

#include "check/rule.hpp"
#include "core/site_rules/policy_violation.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {

/// One component of a job with what is known of it at the site.
struct ComponentSiteEvaluation {
  const slurm::JobOptions& request;
  const slurm::JobSize& size;
  const hpcml::site_rules::ResourceRequest& demand;
  const hpcml::site_rules::ResolvedPlacement& fit;
  const model::Site& site;
  const hpcml::site_rules::PolicyViolations& violations;

  /// Where the first of these options is; nowhere where none is given.
  diag::TextRange place(const std::vector<std::string_view>& options) const;
  /// error where the job certainly is refused or never starts, else warning.
  diag::Severity severity() const { return fit.sure ? diag::Severity::error : diag::Severity::warning; }
};
/// The components; none without a site.
std::vector<ComponentSiteEvaluation> parts_of(const LintContext& subject);

/// Completes the match for a violation, for example with a fix. Returns false if there is none.
using CompleteMatch = bool (*)(const LintContext& subject, const ComponentSiteEvaluation& part,
                               const hpcml::site_rules::PolicyViolation& violation, RuleMatch& match);
/// Returns a match for each violation under the rule of that ID, with the place, the sentence, the hint and
/// the severity of its row in the table of site rules.
RuleMatches match_violations(const LintContext& subject, std::string_view rule_id,
                             CompleteMatch complete = nullptr);

/// A script that LUMI takes, which every rule must leave alone there: the good example of many.
inline constexpr Example k_lumi_job(R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
srun true
)",
                                    "lumi");

/// Returns the hint with the document that states the fact.
Hint cite(std::string hint, const model::Origin& origin);

/// The option taken out: its words, or the whole line where nothing else is on it. Empty where that cannot be
/// seen.
std::vector<Edit> remove_option(const LintContext& subject, diag::TextRange place);
/// Returns the edit that replaces `from`, which occurs once in the option's value, by `to`; empty otherwise.
std::vector<Edit> replace_in(const LintContext& subject, diag::TextRange place, const std::string& from,
                             const std::string& to);
/// Returns the edit that adds a directive on the line after that of the place.
std::vector<Edit> add_directive_after(const LintContext& subject, diag::TextRange place,
                                      const std::string& option);

} // namespace hpcml::check
