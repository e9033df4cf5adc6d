// SPDX-License-Identifier: MIT
// Values that the user should have filled in.
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "check/deduplicate.hpp"
#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_placeholder {

constexpr std::array<std::string_view, 16> k_words = {
    "your_",    "your-",     "yourname",  "youraccount", "yourproject", "your.", "fill_me", "fillme",
    "changeme", "change_me", "change-me", "placeholder", "todo",        "fixme", "xxxx",    "replace_me"};
constexpr std::array<std::string_view, 9> k_whole = {
    "xxx",       "account_name", "project_name", "partition_name", "my_account",
    "myaccount", "account",      "your",         "user@domain.com"};
/// Where the site decides whether a value exists.
constexpr std::array<std::string_view, 9> k_named = {
    "account", "partition", "qos", "reservation", "constraint", "mail-user", "nodelist", "chdir", "clusters"};

/// "<jane.doe@uni.org>": an address as mail programs write it.
bool is_address(const std::string& text) {
  const auto at = text.find('@');
  return text.size() > 2 && text.front() == '<' && text.back() == '>' && at != std::string::npos &&
         text.find('.', at) != std::string::npos && text.find_first_of("<>{} ", 1) == text.size() - 1;
}

bool has_brackets(const std::string& text) {
  const auto open = text.find('<');
  if (open != std::string::npos && text.find('>', open) != std::string::npos) return true;
  const auto brace = text.find('{');
  return brace != std::string::npos && text.find('}', brace) != std::string::npos &&
         (brace == 0 || text[brace - 1] != '$');
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

bool is_placeholder(const std::string& option, const std::string& text) {
  if ((has_brackets(text) && !(option == "mail-user" && is_address(text))) || is_gap(option, text))
    return true;
  if (std::find(k_named.begin(), k_named.end(), option) == k_named.end()) return false;
  const auto lower = util::to_lower(text);
  if (option != "partition" && std::find(k_whole.begin(), k_whole.end(), lower) != k_whole.end()) return true;
  return std::any_of(k_words.begin(), k_words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

/// "<options>" in the text from there on, up to the end of the line: nothing where it is something else.
std::optional<diag::Place> gap_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size() || text[offset] != '<') return std::nullopt;
  const auto line = line_at(text, offset);
  const auto rest = text.substr(offset, line.offset + line.length - offset);
  const auto close = rest.find('>');
  if (close == std::string_view::npos || close < 3) return std::nullopt;
  const auto name = rest.substr(1, close - 1);
  const bool words = std::all_of(name.begin(), name.end(), [](char c) {
    return util::is_name_char(c) || c == '-' || c == ' ' || c == '.';
  });
  if (!words || std::isalpha(static_cast<unsigned char>(name.front())) == 0 || name.back() == ' ')
    return std::nullopt;
  return diag::Place{offset, close + 1};
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
  for (const auto& command : subject.view.commands)
    for (const auto& redirect : command.redirects)
      if (redirect.op == "<") add(redirect.place.offset);
  for (const auto& unread : subject.view.unread) {
    const auto line = line_at(subject.text, std::min<std::size_t>(unread.place.offset, subject.text.size()));
    for (auto at = subject.text.find('<', line.offset); at < line.offset + line.length;
         at = subject.text.find('<', at + 1))
      add(at);
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_in_commands(subject, hits);
  for (const auto& request : subject.requests)
    for (const auto& [option, setting] : request.settings)
      if (setting.value && setting.place.length > 0 && option != "comment" && option != "wrap" &&
          is_placeholder(option, *setting.value))
        hits.push_back({setting.place, fmt::format("'{}' looks like a placeholder", *setting.value),
                        "set your own value, or remove the option and use it on the command line"});
  return hits;
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
      .yields_to = {{"", overlap}},
  };
}

} // namespace hpcml::check
