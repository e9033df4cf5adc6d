// SPDX-License-Identifier: MIT
#include "check/check_script.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "check/deduplicate.hpp"
#include "check/fix.hpp"
#include "check/launch_facts.hpp"
#include "check/rule.hpp"
#include "check/site_options.hpp"
#include "check/suppress.hpp"
#include "core/diag/line_table.hpp"
#include "core/site_rules/plugin_options.hpp"
#include "core/slurm/job_reading.hpp"
#include "core/slurm/options.hpp"
#include "core/slurm/possible.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {

namespace {

using slurm::Version;

/// What sbatch refuses or warns of, in the script's bytes.
using Refusals = std::vector<slurm::LocatedFinding>;

/// Reads the job as this version of sbatch does; returns what it refuses.
Refusals read_as(std::string_view text, slurm::ComparisonTrackingVersion version, slurm::ScriptAsRead& job) {
  slurm::LocatedFindings findings("", text);
  job = slurm::read_job(text, version, findings);
  for (std::size_t i = 0; i < job.requests.size(); ++i)
    slurm::check_possible(job.requests[i], job.sizes[i], version, findings);
  return findings.placed();
}

constexpr std::size_t k_versions = slurm::k_version_names.size();

struct Seen {
  slurm::LocatedFinding finding;
  std::array<bool, k_versions> versions = {}; ///< that have it
};

/// What makes findings of two versions one.
using Identity = std::tuple<std::size_t, bool, std::string>;
Identity identity_of(const slurm::LocatedFinding& finding) {
  return {finding.place.offset, finding.place.length > 0, finding.code};
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
    if (last > i) text += fmt::format(" to {}", slurm::k_version_names[last]);
    i = last;
  }
  return text;
}

/// What any version refuses, in the newest one's words; leaves the newest version's reading in `job`.
Refusals read_as_all(std::string_view text, bool at_site, slurm::ScriptAsRead& job) {
  std::vector<Seen> all;
  std::map<Identity, std::size_t> places; // of `all`: the first of that identity
  slurm::ScriptAsRead older;
  for (std::size_t end = k_versions; end > 0;) {
    slurm::VersionSpan span;
    const auto newest = static_cast<Version>(end - 1);
    for (auto& finding : read_as(text, {newest, &span}, end == k_versions ? job : older)) {
      const auto [same, is_new] = places.emplace(identity_of(finding), all.size());
      auto& seen = is_new ? all.emplace_back(Seen{std::move(finding)}) : all[same->second];
      std::fill(seen.versions.begin() + static_cast<int>(span.first),
                seen.versions.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
    end = static_cast<std::size_t>(span.first);
  }
  Refusals list;
  for (auto& [finding, versions] : all) {
    if (std::find(versions.begin(), versions.end(), false) != versions.end()) {
      finding.message += fmt::format(" (Slurm {})", versions_text(versions));
      const bool oldest_only = std::find(versions.begin() + 1, versions.end(), true) ==
                               versions.end(); // hardly any cluster has it
      if (oldest_only && at_site) continue;    // sites with an unknown version have a newer one
      if (finding.severity == diag::Severity::error)
        finding.severity = oldest_only ? diag::Severity::note : diag::Severity::warning;
    }
    list.push_back(std::move(finding));
  }
  return list;
}

std::optional<Version> version_of(const TargetCluster& target) {
  if (target.version || !target.site || !target.site->slurm_version) return target.version;
  return slurm::parse_version(target.site->slurm_version->value);
}

/// The edits that fix a refusal by its rule.
std::vector<Edit> fix_of(const slurm::LocatedFinding& refusal, const LintContext& subject) {
  const auto* rule = refusal.place.length > 0 ? find_rule(refusal.code) : nullptr;
  return rule && rule->fix ? rule->fix(subject, refusal.place) : std::vector<Edit>{};
}

/// Where the value of an option is that Slurm does not know: after its "=" or after it.
std::size_t value_behind(std::string_view text, std::size_t at, std::string_view word) {
  const auto equals = word.find('=');
  return equals == std::string_view::npos ? text.find_first_not_of(" \t", at + word.size()) : equals;
}

/// Without the options that the site's plugins bring, and without the values after them. What may be such an
/// option is a warning, and a note where it is one of a known plugin: no profile lists all plugins of its
/// site.
Refusals without_site_options(Refusals refusals, const LintContext& subject) {
  std::size_t value_at = std::string_view::npos;
  const auto is_known = [&](slurm::LocatedFinding& refusal) {
    const auto [at, length] = refusal.place;
    if (length == 0) return false;
    if (refusal.code == "slurm/unexpected-argument" && at == value_at) return true;
    if (refusal.code != "slurm/option-unknown") return false;
    const auto word = subject.text.substr(at, length);
    const auto equals = word.find('=');
    if (!word.starts_with("--")) return false;
    const auto name = word.substr(2, equals == std::string_view::npos ? equals : equals - 2);
    const auto renamed = fix_of(refusal, subject);
    const bool given_up = !renamed.empty();
    if (given_up) refusal.hint = "use --" + renamed.front().text;
    const auto engine = site_rules::engine_of_option(name);
    const auto plugin = site_rules::plugin_option(subject.site, name);
    if (!given_up && plugin == site_rules::PluginOptionStatus::none) return false;
    value_at = value_behind(subject.text, at, word);
    if (given_up) return false;
    if (plugin == site_rules::PluginOptionStatus::brought) return true;
    refusal.severity = diag::Severity::warning;
    if (subject.site)
      refusal.hint = fmt::format("check the name: the profile of {} lists no plugin with this option",
                                 subject.site->name);
    if (engine) {
      refusal.severity = subject.site ? diag::Severity::warning : diag::Severity::note;
      refusal.message =
          fmt::format("--{} is not an option of Slurm; the plugin of {} adds it if it is installed", name,
                      model::word_of(*engine));
      if (!subject.site) refusal.hint = "use --site to check whether the cluster has it";
    }
    return false;
  };
  refusals.erase(std::remove_if(refusals.begin(), refusals.end(), is_known), refusals.end());
  return refusals;
}

/// Whether some version of sbatch refuses the same on that line when the edits are made: those that the
/// newest one takes unchanged.
bool leaves(const Finding& refusal, const LintContext& subject, const diag::LineTable& lines) {
  if (refusal.what.severity == diag::Severity::error) return false; // of all: the fix is for the newest
  const auto fixed = apply_fixes(subject.text, {refusal}).text;
  slurm::ScriptAsRead reading;
  const auto rest = read_as_all(fixed, false, reading);
  const diag::LineTable fixed_lines(fixed);
  return std::any_of(rest.begin(), rest.end(), [&](const slurm::LocatedFinding& finding) {
    return finding.place.length > 0 && finding.code == refusal.what.code &&
           finding.message == refusal.what.message &&
           fixed_lines.number_at(finding.place.offset) == lines.number_at(refusal.place.offset);
  });
}

/// What sbatch refuses, with the fixes that the rules of those refusals have.
Findings with_fixes(Refusals refusals, const LintContext& subject, const diag::LineTable& lines) {
  Findings findings;
  for (auto& refusal : refusals) {
    auto fix = fix_of(refusal, subject);
    if (refusal.code == "slurm/missing-dependency") { // tutorials say: sbatch -n 4 FILE
      refusal.severity = std::max(refusal.severity, diag::Severity::warning);
      refusal.hint = util::replace_all(refusal.hint, "add one of them",
                                       "add one of them here or on sbatch's command line");
    }
    auto& finding = findings.emplace_back(Finding{
        {refusal.severity, std::move(refusal.code), std::move(refusal.message), {}, std::move(refusal.hint)},
        refusal.place,
        std::move(fix)});
    if (!finding.fix.empty() && !subject.version_known && leaves(finding, subject, lines))
      finding.fix.clear();
  }
  return findings;
}

void run_rule(const Rule& rule, const LintContext& subject, Findings& findings) {
  if (!rule.find) return;
  for (auto& hit : rule.find(subject))
    findings.push_back({{hit.severity.value_or(rule.severity),
                         std::string(rule.id),
                         std::move(hit.message),
                         {},
                         std::move(hit.hint.text),
                         std::move(hit.hint.source)},
                        hit.place.length > 0 ? hit.place : diag::TextRange{},
                        std::move(hit.fix)});
}

/// Those without a place come last.
void sort_by_place(Findings& findings) {
  const auto key = [](const Finding& finding) {
    return finding.place.length == 0 ? std::string_view::npos : finding.place.offset;
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

/// True if the file has no directives and submits jobs itself: it is run, not submitted.
bool is_submitter(const LintContext& subject) {
  return subject.header.directives.empty() &&
         std::any_of(subject.listing.commands.begin(), subject.listing.commands.end(),
                     [](const shell::Command& command) { return command.name() == "sbatch"; });
}

/// Omits what jobs run that the script submits: this job's directives do not hold for them.
void omit_submitted(LintContext& subject) {
  if (subject.header.directives.empty()) return;
  std::erase_if(subject.launches, [&](const Launch& launch) {
    for (auto parent = launch.command->parent; parent; parent = subject.listing.commands[*parent].parent)
      if (subject.listing.commands[*parent].name() == "sbatch") return true;
    return false;
  });
}

/// What the site rules says to the parts of the job.
void evaluate_parts(LintContext& subject) {
  for (std::size_t i = 0; i < subject.requests.size(); ++i) {
    auto& demand = subject.demands.emplace_back(site_rules::demand_of(subject.requests[i], subject.sizes[i]));
    add_plugin_options(*subject.site, subject.header, demand);
    subject.fits.push_back(site_rules::place(*subject.site, demand));
    subject.violations.push_back(site_rules::evaluate_policy(*subject.site, subject.fits.back(), demand));
  }
}

} // namespace

Findings check_script(const std::string& file, std::string_view text, const TargetCluster& target) {
  if (text.size() > k_largest_script)
    return {{{diag::Severity::error,
              "slurm/script-size",
              "the script exceeds 4 MiB, the default max_script_size of Slurm, and was not checked",
              {file, 0, 0, 0},
              "use a separate file for the data, which the commands read"}}};
  LintContext subject;
  subject.text = text;
  subject.read_file = target.read_file;
  subject.site = is_no_job(text) ? nullptr : target.site; // whose rules are for jobs
  const auto version = version_of(target);
  subject.version_known = version.has_value();
  subject.version = version.value_or(slurm::k_newest_version);
  auto refusals =
      version ? read_as(text, *version, subject) : read_as_all(text, target.site != nullptr, subject);
  if (subject.site) evaluate_parts(subject);
  const auto script = shell::read_script(is_shell_script(text) ? std::string(text) : std::string());
  subject.listing = shell::list_commands(script, /*keeps_beginnings=*/true);
  subject.unread = shell::unread_parts(script.program);
  subject.texts = shell::long_texts(script.program, text);
  subject.launches = find_launches(subject.listing);
  omit_submitted(subject);
  subject.names = names_in(text);
  if (is_submitter(subject))
    std::erase_if(refusals, [](const auto& refusal) { return refusal.code == "slurm/first-line"; });
  const diag::LineTable lines(text);
  auto findings = with_fixes(without_site_options(std::move(refusals), subject), subject, lines);
  for (const auto& rule : all_rules()) run_rule(rule, subject, findings);
  sort_by_place(findings);
  for (auto& finding : findings) finding.what.location = lines.location_at(file, finding.place);
  deduplicate(text, findings);
  apply_suppressions(file, text, lines, findings);
  sort_by_place(findings);
  return findings;
}

FixedText fix_script(std::string_view text, const TargetCluster& target) {
  FixedText result{std::string(text)};
  // A fix can bring to light what it hid; each round leaves less, and none continues for ever.
  for (int round = 0; round < 10; ++round) {
    auto next = apply_fixes(result.text, check_script("", result.text, target));
    if (next.text == result.text) break;
    result = {std::move(next.text), result.findings + next.findings};
  }
  return result;
}

} // namespace hpcml::check
