// SPDX-License-Identifier: MIT
// Values that the user should have filled in.
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "check/deduplicate.hpp"
#include "check/rule.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_placeholder {

constexpr std::array<std::string_view, 18> k_words = {
    "your_",   "your-",  "yourname", "youraccount", "yourproject", "your.",
    "fill_me", "fillme", "changeme", "change_me",   "change-me",   "placeholder",
    "todo",    "fixme",  "xxxx",     "replace_me",  "/your/",      "/path/to/"};
/// Domains of addresses in examples; RFC 2606 reserves the first three.
constexpr std::array<std::string_view, 6> k_domains = {"example.com", "example.org",    "example.net",
                                                       "example.edu", "university.edu", "domain.com"};
constexpr std::array<std::string_view, 8> k_whole = {"account_name", "project_name", "partition_name",
                                                     "my_account",   "myaccount",    "account",
                                                     "your",         "example"};
/// Where the site decides whether a value exists.
constexpr std::array<std::string_view, 9> k_named = {
    "account", "partition", "qos", "reservation", "constraint", "mail-user", "nodelist", "chdir", "clusters"};

/// "<jane.doe@uni.org>": an address as mail programs write it.
bool is_address(const std::string& text) {
  const auto at = text.find('@');
  return text.size() > 2 && text.front() == '<' && text.back() == '>' && at != std::string::npos &&
         text.find('.', at) != std::string::npos && text.find_first_of("<>{} ", 1) == text.size() - 1;
}

/// True for words in capitals that name what to fill in: "PARTITION_NAME", "GROUP@PARTITION".
bool is_gap(const std::string& option, const std::string& text) {
  static constexpr std::array<std::string_view, 24> c_gaps = {
      "ACCOUNT",        "ACCOUNT_ID", "ACCOUNT_NAME",    "ALLOCATION",       "EMAIL",        "EMAIL_ADDRESS",
      "GROUP",          "GROUP_NAME", "JOBNAME",         "JOB_NAME",         "NODE_NAME",    "PARTITION",
      "PARTITION_NAME", "PROJECT",    "PROJECT_ACCOUNT", "PROJECT_ID",       "PROJECT_NAME", "QOS",
      "QOS_NAME",       "QUEUE",      "QUEUE_NAME",      "RESERVATION_NAME", "USERNAME",     "USER_NAME"};
  if (option != "job-name" && std::find(k_named.begin(), k_named.end(), option) == k_named.end())
    return false;
  const auto parts = util::split(text, '@');
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
    return std::find(c_gaps.begin(), c_gaps.end(), part) != c_gaps.end();
  });
}

/// True if all of the value is one: "XXX", "[account]", "jane@example.com".
bool is_whole_placeholder(const std::string& option, const std::string& lower) {
  if (lower.size() >= 3 && lower.find_first_not_of('x') == std::string::npos) return true;
  if (option == "mail-user" && std::any_of(k_domains.begin(), k_domains.end(), [&](auto domain) {
        return lower.ends_with("@" + std::string(domain)) || lower.ends_with("." + std::string(domain));
      }))
    return true;
  // "[rack1|rack2]" is a constraint, "n[1-4]" a list of nodes.
  if (lower.front() == '[' && lower.back() == ']' && option != "constraint" && option != "nodelist")
    return true;
  // "a|b" leaves the choice to the user: an account has no such sign.
  if (option == "account" && lower.find('|') != std::string::npos) return true;
  if (option == "partition") return lower == "partition";
  return std::find(k_whole.begin(), k_whole.end(), lower) != k_whole.end();
}

bool is_placeholder(const std::string& option, const std::string& text) {
  if ((has_gap(text) && !(option == "mail-user" && is_address(text))) || is_gap(option, text)) return true;
  const auto lower = util::to_lower(text);
  if (option == "output" || option == "error")
    return lower.find("/your/") != std::string::npos || lower.find("/path/to/") != std::string::npos;
  if (text.empty() || std::find(k_named.begin(), k_named.end(), option) == k_named.end()) return false;
  if (is_whole_placeholder(option, lower)) return true;
  return std::any_of(k_words.begin(), k_words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

/// Gaps among the words of commands, which bash reads as redirects: in <options>, out to what follows.
void find_in_commands(const LintContext& subject, RuleMatches& hits) {
  if (!subject.unread.empty()) return; // safety/syntax states it
  const auto add = [&](std::size_t offset) {
    if (const auto gap = gap_at(subject.text, offset))
      hits.add({*gap,
                fmt::format("bash parses '{}' as redirects, not as a placeholder",
                            subject.text.substr(gap->offset, gap->length)),
                "set the value"});
  };
  for (const auto& command : subject.listing.commands)
    for (const auto& redirect : command.redirects)
      if (redirect.op == "<") add(redirect.place.offset);
  for (const auto& unread : subject.listing.unread) {
    const auto line = line_at(subject.text, std::min<std::size_t>(unread.place.offset, subject.text.size()));
    for (auto at = subject.text.find('<', line.offset); at < line.offset + line.length;
         at = subject.text.find('<', at + 1))
      add(at);
  }
}

/// The first place in a directive at which a template engine puts a value: "{{ nodes }}", "{% if x %}".
std::optional<std::size_t> find_template(const LintContext& subject) {
  for (const auto& directive : subject.header.directives) {
    if (directive.words.empty()) continue;
    const auto line = line_at(subject.text, directive.words[0].place.offset);
    if (has_template_mark(subject.text.substr(line.offset, line.length))) return line.offset;
  }
  return std::nullopt;
}

/// True if the word is in a command or an assignment, where it is used: not in a comment, a here-document or
/// a line that prints.
bool is_used(const LintContext& subject, std::size_t offset) {
  const auto line = line_at(subject.text, offset);
  const auto before = util::trim(subject.text.substr(line.offset, offset - line.offset));
  if (is_in_comment(subject.text, offset) || before.ends_with(":-")) return false;
  for (const std::string_view printing : {"echo ", "printf ", "sed ", "usage", "Usage", "e.g.", "://"})
    if (before.find(printing) != std::string_view::npos) return false;
  return !subject.is_in_text(offset);
}

/// "/path/to/data" in commands and assignments: once for all of them.
void find_paths(const LintContext& subject, RuleMatches& hits) {
  constexpr std::string_view k_ends = " \t\r\n\"'`;:,)|&";
  std::size_t count = 0;
  diag::TextRange first;
  for (const std::string_view path : {"/path/to/", "/your/", "path_to/"}) {
    if (path[0] != '/' && !std::binary_search(subject.names.begin(), subject.names.end(), "path_to"))
      continue;
    for (auto at = subject.text.find(path, std::min(subject.header.end, subject.text.size()));
         at != std::string_view::npos; at = subject.text.find(path, at + path.size())) {
      if (!is_used(subject, at)) continue;
      if (path[0] != '/' && at > 0 && util::is_name_char(subject.text[at - 1])) continue; // "my_path_to/"
      const auto begin = subject.text.find_last_of(" \t\n\"'`=:(", at) + 1;
      const auto end = std::min(subject.text.find_first_of(k_ends, at), subject.text.size());
      if (++count == 1 || begin < first.offset) first = {begin, end - begin};
    }
  }
  if (count == 0) return;
  hits.add({first,
            fmt::format("'{}' looks like a placeholder{}", subject.text.substr(first.offset, first.length),
                        count > 1 ? fmt::format(", and {} more", count - 1) : ""),
            "set your own path"});
}

/// "HF_TOKEN=hf_...": variables for keys whose value was not filled in.
void find_keys(const LintContext& subject, RuleMatches& hits) {
  if (std::none_of(subject.names.begin(), subject.names.end(),
                   [](auto name) { return name.ends_with("TOKEN") || name.ends_with("API_KEY"); }))
    return;
  for (const std::string_view name : {"TOKEN=", "API_KEY="})
    for (auto at = subject.text.find(name, std::min(subject.header.end, subject.text.size()));
         at != std::string_view::npos; at = subject.text.find(name, at + 1)) {
      const auto begin = subject.text.find_first_not_of("\"'", at + name.size());
      if (begin == std::string_view::npos) return;
      const auto end = std::min(subject.text.find_first_of(" \t\r\n\"';", begin), subject.text.size());
      const auto value = subject.text.substr(begin, end - begin);
      const auto lower = util::to_lower(value);
      const bool gap = value.ends_with("...") || lower.starts_with("your_") || lower.starts_with("your-") ||
                       lower.find("_your_") != std::string::npos;
      if (gap && value.find('$') == std::string_view::npos && is_used(subject, at))
        hits.add({{begin, end - begin},
                  fmt::format("'{}' looks like a placeholder", value),
                  "remove the line: the key of a login counts only if the variable is not set"});
    }
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }

constexpr std::string_view k_gap = "YOUR_";

/// True for YOUR_ and more capitals.
bool is_gap_in_capitals(std::string_view word) {
  return word.size() > k_gap.size() && !std::any_of(word.begin(), word.end(), is_small);
}

/// "IMAGE=YOUR_IMAGE_DIR/x.sif", "DATA=/scratch/TODO_YOUR_USER": gaps in capitals that assignments give.
void find_capitals(const LintContext& subject, RuleMatches& hits) {
  constexpr std::string_view k_ends = " \t\r\n\"'`;:,)|&";
  const auto text = subject.text;
  for (auto at = text.find(k_gap, std::min(subject.header.end, text.size())); at != std::string_view::npos;
       at = text.find(k_gap, at + k_gap.size())) {
    auto begin = at;
    while (begin > 0 && util::is_name_char(text[begin - 1])) --begin;
    auto gap_end = at;
    while (gap_end < text.size() && util::is_name_char(text[gap_end])) ++gap_end;
    const auto gap = text.substr(begin, gap_end - begin);
    if ((begin != at && !gap.starts_with("TODO_")) || !is_gap_in_capitals(gap)) continue;
    const auto line = line_at(text, at);
    const auto before = util::trim(text.substr(line.offset, begin - line.offset));
    const auto name_at = before.starts_with("export ") ? before.find_first_not_of(' ', 7) : 0;
    const auto equals = before.find('=');
    if (equals == std::string_view::npos || equals < name_at ||
        !util::is_variable_name(before.substr(name_at, equals - name_at)) ||
        before.find_first_of("$ \t", equals) != std::string_view::npos || !is_used(subject, begin))
      continue;
    const auto value = text.find_first_not_of("\"'", text.find('=', line.offset) + 1);
    const auto end = std::min(text.find_first_of(k_ends, begin), text.size());
    hits.add({{value, end - value},
              fmt::format("'{}' looks like a placeholder", text.substr(value, end - value)),
              "set your own value"});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (const auto marked = find_template(subject)) {
    hits.push_back({line_at(subject.text, *marked),
                    "this script is a template: its values are not filled in, and it is not checked further",
                    "render the template, and check the result",
                    {},
                    diag::Severity::error});
    return hits;
  }
  find_in_commands(subject, hits);
  find_paths(subject, hits);
  find_keys(subject, hits);
  find_capitals(subject, hits);
  for (const auto& component : subject.settings)
    for (const auto& setting : component)
      if (setting.value && setting.place.length > 0 && setting.option != "comment" &&
          setting.option != "wrap" && is_placeholder(setting.option, *setting.value))
        hits.add({setting.place, fmt::format("'{}' looks like a placeholder", *setting.value),
                  "set your own value, or remove the option and use it on the command line"});
  return hits;
}

/// Names the placeholder as the cause of sbatch's refusal.
void explain(const Finding& own, Finding& stronger) {
  if (stronger.what.message.find("placeholder") != std::string::npos) return;
  stronger.what.hint = own.what.message + ": " + own.what.hint;
}

} // namespace safety_placeholder

Rule rule_safety_placeholder() {
  using namespace safety_placeholder;
  return {
      .id = "safety/placeholder",
      .severity = diag::Severity::warning,
      .title = "Unfilled placeholder",
      .why =
          "Templates name their gaps <account> or YOUR_PROJECT. sbatch takes such names unchanged, and the "
          "controller refuses the job; in a mail address or a path it is not noticed at all.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --account=<account>
)"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000123
)"},
      .find = find,
      .yields_to = {{"slurm/", overlap, explain}, {"launch/", overlap}, {"safety/", overlap}},
  };
}

} // namespace hpcml::check
