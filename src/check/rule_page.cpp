// SPDX-License-Identifier: MIT
#include "check/rule_page.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "check/report_writer.hpp"
#include "core/diag/visible_text.hpp"
#include "core/util/text.hpp"
#include "core/util/text_table.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::check {
namespace {

/// True if a fix comes with what the rule finds in its example.
bool is_fixed(const Rule& rule, const SiteLookup& sites) {
  const auto findings = check_script("", rule.bad.script, example_target(rule.bad, sites));
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.what.code == rule.id && !finding.fix.empty();
  });
}

/// "at lumi, Slurm 23.11"; empty where the example needs neither.
std::string where_text(const Example& example) {
  std::string text;
  if (!example.site.empty()) text = fmt::format("at {}", example.site);
  if (!example.version.empty()) text += (text.empty() ? "Slurm " : ", Slurm ") + std::string(example.version);
  return text;
}

/// The script's lines, with escapes for what cannot be seen, each indented by `indent`.
std::string shown_script(std::string_view script, std::string_view indent) {
  if (!script.empty() && script.back() == '\n') script.remove_suffix(1);
  std::string text;
  for (const auto& line : util::split(script, '\n')) {
    const auto shown = diag::visible_text(line);
    text += (shown.empty() ? "" : std::string(indent) + shown) + "\n";
  }
  return text;
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  for (const auto& word : util::split(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    }
    if (column > 0) out += ' ';
    out += word;
    column += word.size() + (column > 0 ? 1 : 0);
  }
  return out + "\n";
}

std::string silencing(const Rule& rule) { return fmt::format("# hpcml: disable={} because …", rule.id); }

std::string example_as_text(std::string_view head, const Example& example) {
  if (example.script.empty()) return {};
  const auto where = where_text(example);
  return fmt::format("\n{}\n\n{}{}", head, where.empty() ? "" : "  (" + where + ")\n",
                     shown_script(example.script, "  "));
}

std::string text_page(const Rule& rule, const SiteLookup& sites) {
  return fmt::format("{}: {}\n{}{}\n\n{}\n{}\n", rule.id, rule.title, level_name(rule.severity),
                     is_fixed(rule, sites) ? ", fixed by hpcml check --fix" : "", wrapped(rule.why, 98),
                     rule.link) +
         example_as_text("It finds:", rule.bad) + example_as_text("It leaves alone:", rule.good) +
         fmt::format("\nTo ignore it, add a comment with the reason on its line or above it:\n\n  {}\n",
                     silencing(rule));
}

std::vector<JsonLine> json_examples(const Example& example) {
  if (example.script.empty()) return {};
  return {JsonLine().add("script", example.script).add("site", example.site).add("version", example.version)};
}

std::string json_page(const Rule& rule, const SiteLookup& sites) {
  return JsonLine()
      .add("id", rule.id)
      .add("group", rule.group())
      .add("severity", level_name(rule.severity))
      .add("title", rule.title)
      .add("why", rule.why)
      .add("link", rule.link)
      .add("fix", is_fixed(rule, sites))
      .add("bad", json_examples(rule.bad))
      .add("good", json_examples(rule.good))
      .text();
}

/// Returns the rules of a group, sorted by ID.
std::vector<const Rule*> rules_of(std::string_view group) {
  std::vector<const Rule*> list;
  for (const auto& rule : all_rules())
    if (rule.group() == group) list.push_back(&rule);
  std::sort(list.begin(), list.end(), [](const Rule* a, const Rule* b) { return a->id < b->id; });
  return list;
}

constexpr std::string_view k_groups[] = {"slurm", "site", "launch", "safety", "check"};

} // namespace

TargetCluster example_target(const Example& example, const SiteLookup& sites) {
  TargetCluster target{std::nullopt, example.site.empty() ? nullptr : sites(example.site)};
  if (!example.version.empty())
    target.version = slurm::parse_version(example.version);
  else if (!target.site || !target.site->slurm_version)
    target.version = slurm::Version::v23_11;
  return target;
}

std::string render_rules(std::string_view format, const SiteLookup& sites) {
  if (format == "json") {
    std::string text = "[";
    for (const auto group : k_groups)
      for (const auto* rule : rules_of(group))
        text += (text.size() > 1 ? ",\n " : "") + json_page(*rule, sites);
    return text + "]\n";
  }
  std::vector<std::vector<std::string>> rows = {{"RULE", "SEVERITY", "--fix", "FINDS"}};
  for (const auto group : k_groups)
    for (const auto* rule : rules_of(group))
      rows.push_back({std::string(rule->id), std::string(level_name(rule->severity)),
                      is_fixed(*rule, sites) ? "yes" : "", std::string(rule->title)});
  return util::render_columns(rows);
}

std::string render_rule(const Rule& rule, std::string_view format, const SiteLookup& sites) {
  return format == "json" ? json_page(rule, sites) + "\n" : text_page(rule, sites);
}

} // namespace hpcml::check
