// SPDX-License-Identifier: MIT
#include "check/check_script.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "check/fix.hpp"
#include "check/same_cause.hpp"
#include "check/site_options.hpp"
#include "check/suppress.hpp"
#include "diag/lines.hpp"
#include "slurm/options.hpp"
#include "slurm/possible.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace {

using slurm::Version;

/// Reads the header as this version of sbatch does; returns what it refuses.
diag::Diagnostics read_as(const std::string& file, std::string_view text, slurm::AsVersion version,
                          Subject& subject) {
  slurm::Findings findings(file, text);
  subject.header = slurm::read_header(text, version, findings);
  subject.requests.clear();
  subject.settings = slurm::read_settings(subject.header, {}, version, findings);
  for (const auto& settings : subject.settings) {
    const auto& request = subject.requests.emplace_back(slurm::make_request(settings, version, findings));
    slurm::check_possible(request, slurm::size_job(request, version, slurm::listed_nodes(request)), version,
                          findings);
  }
  return findings.list();
}

constexpr std::size_t k_versions = slurm::k_version_names.size();

struct Seen {
  diag::Diagnostic finding;
  std::array<bool, k_versions> versions = {}; ///< that have it
};

/// What makes findings of two versions one.
using Identity = std::tuple<unsigned, unsigned, std::string>;
Identity identity_of(const diag::Diagnostic& finding) {
  return {finding.span.line, finding.span.column, finding.code};
}

/// "20.11 to 23.02, 26.05".
std::string versions_text(const std::array<bool, k_versions>& versions) {
  std::string text;
  for (std::size_t i = 0; i < k_versions; ++i) {
    if (!versions[i]) continue;
    std::size_t last = i;
    while (last + 1 < k_versions && versions[last + 1]) ++last;
    if (!text.empty()) text += ", ";
    text += slurm::k_version_names[i];
    if (last > i) text += " to " + std::string(slurm::k_version_names[last]);
    i = last;
  }
  return text;
}

/// What any version refuses, in the newest one's words; leaves the newest version's reading in `subject`.
diag::Diagnostics read_as_all(const std::string& file, std::string_view text, Subject& subject) {
  std::vector<Seen> all;
  std::map<Identity, std::size_t> places; // of `all`: the first of that identity
  Subject older;
  for (std::size_t end = k_versions; end > 0;) {
    slurm::VersionSpan span;
    const auto newest = static_cast<Version>(end - 1);
    for (auto& finding : read_as(file, text, {newest, &span}, end == k_versions ? subject : older)) {
      const auto [same, is_new] = places.emplace(identity_of(finding), all.size());
      auto& seen = is_new ? all.emplace_back(Seen{std::move(finding)}) : all[same->second];
      std::fill(seen.versions.begin() + static_cast<int>(span.first),
                seen.versions.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
    end = static_cast<std::size_t>(span.first);
  }
  diag::Diagnostics list;
  for (auto& [finding, versions] : all) {
    if (std::find(versions.begin(), versions.end(), false) != versions.end()) {
      finding.message += " (Slurm " + versions_text(versions) + ")";
      const bool oldest_only = std::find(versions.begin() + 1, versions.end(), true) ==
                               versions.end();   // hardly any cluster has it
      if (oldest_only && subject.site) continue; // those whose version nobody told have a newer one
      if (finding.severity == diag::Severity::error)
        finding.severity = oldest_only ? diag::Severity::note : diag::Severity::warning;
    }
    list.push_back(std::move(finding));
  }
  return list;
}

std::optional<Version> version_of(const Target& target) {
  if (target.version || !target.site || !target.site->slurm_version) return target.version;
  return slurm::parse_version(target.site->slurm_version->value);
}

const Rule* rule_without_examples(std::string_view id) {
  const auto& rules = rules_without_examples();
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
  return found == rules.end() ? nullptr : &*found;
}

/// Whether some version of sbatch or srun has the option, or it looks like a slip for one.
bool is_near_option(std::string_view name) {
  using slurm::Program;
  return slurm::is_option(Program::sbatch, name) || slurm::find_option(Program::srun, name).option ||
         util::nearest(name, slurm::option_names(Program::sbatch));
}

/// Where the value of an option stands that Slurm does not know: behind its "=" or after it.
std::size_t value_behind(std::string_view text, std::size_t at, std::string_view word) {
  const auto equals = word.find('=');
  return equals == std::string_view::npos ? text.find_first_not_of(" \t", at + word.size()) : equals;
}

/// Without the options that the site's plugins bring, and without the values behind them. What may be such an
/// option is a warning, and a note where it is one of a known plugin: no profile lists all plugins of its
/// site.
diag::Diagnostics without_site_options(diag::Diagnostics refusals, const Subject& subject,
                                       const diag::Lines& lines) {
  std::size_t value_at = std::string_view::npos;
  const auto is_known = [&](diag::Diagnostic& refusal) {
    if (refusal.span.line == 0) return false;
    const auto at = lines.offset_of(refusal.span);
    if (refusal.code == "slurm/operand" && at == value_at) return true;
    if (refusal.code != "slurm/option-unknown") return false;
    const auto word = subject.text.substr(at, refusal.span.length);
    const auto equals = word.find('=');
    if (word.substr(0, 2) != "--") return false;
    const auto name = word.substr(2, equals == std::string_view::npos ? equals : equals - 2);
    const auto renamed = rule_without_examples(refusal.code)->fix(subject, {at, refusal.span.length});
    const bool given_up = !renamed.empty();
    if (given_up) refusal.hint = "write --" + renamed.front().text;
    const auto engine = engine_of_option(name);
    // An option that is near to none of Slurm's may well be a plugin's.
    const bool maybe =
        !given_up && (engine || (!is_near_option(name) && name.find(':') == std::string_view::npos));
    if (maybe && subject.site && is_site_option(*subject.site, name)) {
      value_at = value_behind(subject.text, at, word);
      return true;
    }
    if (!maybe && !given_up && !(subject.site && is_site_option(*subject.site, name))) return false;
    value_at = value_behind(subject.text, at, word);
    if (maybe) refusal.severity = diag::Severity::warning;
    if (maybe && subject.site)
      refusal.hint = "the profile of " + subject.site->name + " tells of no plugin that brings it";
    if (maybe && engine) {
      refusal.severity = subject.site ? diag::Severity::warning : diag::Severity::note;
      refusal.message = "--" + std::string(name) + " is no option of Slurm's: the plugin of " +
                        std::string(model::word_of(*engine)) + " brings it where it is installed";
      if (!subject.site) refusal.hint = "--site tells whether the cluster has it";
    }
    return !maybe && !given_up;
  };
  refusals.erase(std::remove_if(refusals.begin(), refusals.end(), is_known), refusals.end());
  return refusals;
}

/// Whether some version of sbatch refuses the same on that line when the edits are made: those that the
/// newest one takes as they are.
bool leaves(const diag::Diagnostic& refusal, const std::vector<Edit>& edits, const Subject& subject) {
  if (refusal.severity == diag::Severity::error) return false; // of all versions: the mend is for the newest
  Finding finding{refusal, edits};
  const auto mended = apply_fixes(subject.text, {finding}).text;
  Subject other;
  const auto rest = read_as_all("", mended, other);
  return std::any_of(rest.begin(), rest.end(), [&](const diag::Diagnostic& one) {
    return one.code == refusal.code && one.span.line == refusal.span.line && one.message == refusal.message;
  });
}

/// What sbatch refuses, with the mends that the rules of those refusals have.
Findings with_fixes(diag::Diagnostics refusals, const Subject& subject, const diag::Lines& lines) {
  Findings findings;
  for (auto& refusal : refusals) {
    const auto* rule = rule_without_examples(refusal.code);
    std::vector<Edit> fix;
    if (rule && rule->fix && refusal.span.line > 0)
      fix = rule->fix(subject, {lines.offset_of(refusal.span), refusal.span.length});
    if (!fix.empty() && !subject.version_known && leaves(refusal, fix, subject)) fix.clear();
    findings.push_back({std::move(refusal), std::move(fix)});
  }
  return findings;
}

void run_rule(const Rule& rule, const std::string& file, const Subject& subject, const diag::Lines& lines,
              Findings& findings) {
  if (!rule.find) return;
  for (auto& hit : rule.find(subject)) {
    diag::Span span{file, 0, 0, 0};
    if (hit.place.length > 0)
      span = lines.span_at(file, hit.place.offset, static_cast<unsigned>(hit.place.length));
    findings.push_back({{hit.severity.value_or(rule.severity), std::string(rule.id), std::move(hit.message),
                         span, std::move(hit.hint)},
                        std::move(hit.fix)});
  }
}

void sort_by_place(Findings& findings) {
  const auto key = [](const Finding& finding) {
    const auto& span = finding.what.span;
    return std::pair(span.line == 0 ? ~0U : span.line, span.column);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

} // namespace

Findings check_script(const std::string& file, std::string_view text, const Target& target) {
  if (text.size() > k_largest_script)
    return {{{diag::Severity::error,
              "slurm/script-size",
              "the script has more than 4 MiB: Slurm refuses it where its administrators did not raise "
              "max_script_size, and nothing in it was looked at",
              {file, 0, 0, 0},
              "leave data out of it: a file beside it, which the commands read"}}};
  Subject subject;
  subject.text = text;
  subject.site = target.site;
  const auto version = version_of(target);
  subject.version_known = version.has_value();
  subject.version = version.value_or(slurm::k_newest_version);
  auto refusals = version ? read_as(file, text, *version, subject) : read_as_all(file, text, subject);
  for (const auto& request : subject.requests) {
    subject.sizes.push_back(slurm::size_job(request, subject.version, slurm::listed_nodes(request)));
    if (!target.site) continue;
    subject.demands.push_back(site::demand_of(request, subject.sizes.back()));
    auto& demand = subject.demands.back();
    add_plugin_options(*target.site, subject.header, demand);
    subject.fits.push_back(site::place(*target.site, demand));
    subject.verdicts.push_back(site::judge(*target.site, subject.fits.back(), demand));
  }
  const auto script = shell::read_script(is_shell_script(text) ? std::string(text) : std::string());
  subject.view = shell::make_view(script);
  subject.unread = shell::unread_parts(script.program);
  subject.texts = shell::long_texts(script.program, text);
  subject.launches = find_launches(subject.view);
  const diag::Lines lines(text);
  auto findings = with_fixes(without_site_options(std::move(refusals), subject, lines), subject, lines);
  for (const auto& rule : rules_without_examples()) run_rule(rule, file, subject, lines, findings);
  sort_by_place(findings);
  keep_one_per_cause(lines, text, findings);
  apply_suppressions(file, text, findings);
  sort_by_place(findings);
  return findings;
}

diag::Diagnostics diagnostics_of(const Findings& findings) {
  diag::Diagnostics list;
  for (const auto& finding : findings) list.push_back(finding.what);
  return list;
}

Mended fix_script(std::string_view text, const Target& target) {
  Mended result{std::string(text)};
  // A mend can bring to light what it hid; each round leaves less, and none goes on for ever.
  for (int round = 0; round < 10; ++round) {
    auto next = apply_fixes(result.text, check_script("", result.text, target));
    if (next.text == result.text) break;
    result = {std::move(next.text), result.findings + next.findings};
  }
  return result;
}

} // namespace hpcml::check
