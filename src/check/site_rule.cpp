// SPDX-License-Identifier: MIT
#include "check/site_rule.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "check/fix.hpp"
#include "core/site_rules/site_rule_table.hpp"
#include "core/site_rules/violation_text.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

/// Returns how severe a violation is: an error if the job is rejected or never starts, a warning if that is
/// likely, else a note.
diag::Severity severity_of(const site_rules::PolicyViolation& violation) {
  switch (violation.certainty) {
  case site_rules::Confidence::definite: return diag::Severity::error;
  case site_rules::Confidence::likely: return diag::Severity::warning;
  case site_rules::Confidence::advisory: break;
  }
  return diag::Severity::note;
}

RuleMatch match_of(const ComponentSiteEvaluation& part, const site_rules::PolicyViolation& violation) {
  const auto& row = site_rules::row_of(violation.rule);
  const auto options = row.options.front().empty()
                           ? std::vector<std::string_view>{violation.name}
                           : std::vector<std::string_view>(row.options.begin(), row.options.end());
  const site_rules::ViolationContext context{violation, part.site, part.fit, part.demand};
  RuleMatch match{part.place(options), site_rules::describe(violation, part.site, part.fit, part.demand),
                  cite(row.hint(context, site_rules::OptionForm::script), violation.origin)};
  if (row.severity_source == site_rules::SeveritySource::certainty) match.severity = severity_of(violation);
  return match;
}

} // namespace

diag::TextRange ComponentSiteEvaluation::place(const std::vector<std::string_view>& options) const {
  for (const auto option : options)
    if (request.has(option)) return request.place(option);
  return {};
}

std::vector<ComponentSiteEvaluation> parts_of(const LintContext& subject) {
  std::vector<ComponentSiteEvaluation> parts;
  for (std::size_t i = 0; subject.site && i < subject.fits.size(); ++i)
    parts.push_back({subject.requests[i], subject.sizes[i], subject.demands[i], subject.fits[i],
                     *subject.site, subject.violations[i]});
  return parts;
}

RuleMatches match_violations(const LintContext& subject, std::string_view rule_id, CompleteMatch complete) {
  RuleMatches matches;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.violations) {
      if (site_rules::rule_id(violation.rule) != rule_id) continue;
      auto match = match_of(part, violation);
      if (complete == nullptr || complete(subject, part, violation, match))
        matches.push_back(std::move(match));
    }
  return matches;
}

Hint cite(std::string hint, const model::Origin& origin) {
  return {std::move(hint), site_rules::describe_source(origin)};
}

std::vector<Edit> remove_option(const LintContext& subject, diag::TextRange place) {
  if (place.length == 0 || place.offset + place.length > subject.text.size() ||
      subject.text[place.offset] != '-')
    return {};
  const auto line = line_at(subject.text, place.offset);
  if (place.offset + place.length > line.offset + line.length) return {}; // its value is on another line
  const auto is_inside = [&](const slurm::HeaderWord& word) {
    return word.place.offset >= place.offset && word.place.offset < place.offset + place.length;
  };
  const auto& directives = subject.header.directives;
  const bool is_directive = std::any_of(directives.begin(), directives.end(), [&](const auto& directive) {
    return std::any_of(directive.words.begin(), directive.words.end(), is_inside);
  });
  return is_directive ? std::vector<Edit>{remove_option(subject.text, place)} : std::vector<Edit>{};
}

std::vector<Edit> replace_in(const LintContext& subject, diag::TextRange place, const std::string& from,
                             const std::string& to) {
  if (from.empty() || place.length == 0 || place.offset + place.length > subject.text.size()) return {};
  const auto written = subject.text.substr(place.offset, place.length);
  const auto value = std::min(written.find_first_of("= \t"), written.size());
  const auto at = written.find(from, written.size() > value ? value : 0);
  if (at == std::string_view::npos || written.find(from, at + 1) != std::string_view::npos) return {};
  return {{place.offset + at, from.size(), to}};
}

std::vector<Edit> add_directive_after(const LintContext& subject, diag::TextRange place,
                                      const std::string& option) {
  if (place.length == 0) return {};
  const auto line = line_at(subject.text, place.offset);
  return {{line.offset + line.length, 0, "\n#SBATCH " + option}};
}

} // namespace hpcml::check
