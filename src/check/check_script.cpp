// SPDX-License-Identifier: MIT
#include "check/check_script.hpp"

#include <algorithm>
#include <vector>

#include "check/rule.hpp"

namespace hpcml::check {
namespace {

using slurm::Version;

diag::Diagnostics check_version(const std::string& file, std::string_view text, Version version) {
  slurm::Findings findings(file, text);
  const auto header = slurm::read_header(text, version, findings);
  std::vector<slurm::Request> requests;
  for (const auto& settings : slurm::read_settings(header, {}, version, findings)) requests.push_back(slurm::make_request(settings, version, findings));
  auto list = findings.list();
  const Script script{text, version, header, requests};
  for (const auto* rule : all_rules())
    for (auto& hit : rule->find(script))
      list.push_back({rule->severity, std::string(rule->id), std::move(hit.message),
                      diag::span_at(file, text, hit.place.offset, static_cast<unsigned>(hit.place.length)), std::move(hit.hint)});
  return list;
}

struct Seen {
  diag::Diagnostic finding;
  std::vector<Version> versions;
};

bool is_same(const diag::Diagnostic& a, const diag::Diagnostic& b) {
  return a.code == b.code && a.span.line == b.span.line && a.span.column == b.span.column;
}

/// "20.11 to 23.02, 26.05".
std::string versions_text(const std::vector<Version>& versions) {
  std::string text;
  for (std::size_t i = 0; i < versions.size();) {
    std::size_t last = i;
    while (last + 1 < versions.size() && static_cast<int>(versions[last + 1]) == static_cast<int>(versions[last]) + 1) ++last;
    if (!text.empty()) text += ", ";
    text += name_of(versions[i]);
    if (last > i) text += " to " + std::string(name_of(versions[last]));
    i = last + 1;
  }
  return text;
}

} // namespace

diag::Diagnostics check_script(const std::string& file, std::string_view text, std::optional<Version> version) {
  diag::Diagnostics list;
  if (version) {
    list = check_version(file, text, *version);
  } else {
    std::vector<Seen> all;
    for (std::size_t i = 0; i < slurm::k_version_names.size(); ++i) {
      const auto one = static_cast<Version>(i);
      for (auto& finding : check_version(file, text, one)) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const Seen& seen) { return is_same(seen.finding, finding); });
        auto& seen = same == all.end() ? all.emplace_back(Seen{finding, {}}) : *same;
        seen.finding = std::move(finding); // the newest version's words
        if (seen.versions.empty() || seen.versions.back() != one) seen.versions.push_back(one);
      }
    }
    for (auto& seen : all) {
      if (seen.versions.size() < slurm::k_version_names.size()) {
        seen.finding.message += " (Slurm " + versions_text(seen.versions) + ")";
        if (seen.finding.severity == diag::Severity::error) seen.finding.severity = diag::Severity::warning;
      }
      list.push_back(std::move(seen.finding));
    }
  }
  diag::sort_by_place(list);
  return list;
}

} // namespace hpcml::check
