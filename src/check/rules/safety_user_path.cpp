// SPDX-License-Identifier: MIT
// Homes by name in a script that finds others by $USER.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_user_path {

bool is_path_char(char c) { return util::is_name_char(c) || c == '/' || c == '.' || c == '-'; }

/// True for names in a directory of homes that belong to no user.
bool is_shared_name(std::string_view name) {
  static constexpr std::array<std::string_view, 7> k_parts = {"app",   "data", "group", "lab",
                                                              "share", "soft", "public"};
  const auto lower = util::to_lower(name);
  return std::any_of(k_parts.begin(), k_parts.end(),
                     [&](auto part) { return lower.find(part) != std::string::npos; });
}

/// The directories of homes that the text uses with the variable of the user: "/home/" of "/home/$USER".
std::set<std::string_view> find_home_parents(std::string_view text) {
  std::set<std::string_view> parents;
  for (const std::string_view user : {"$USER", "${USER}"})
    for (auto at = text.find(user); at != std::string_view::npos; at = text.find(user, at + 1)) {
      auto begin = at;
      while (begin > 0 && is_path_char(text[begin - 1])) --begin;
      const auto parent = text.substr(begin, at - begin);
      if (parent.starts_with('/') && parent.ends_with('/') &&
          (parent.find("home") != std::string_view::npos || parent.find("users") != std::string_view::npos))
        parents.insert(parent);
    }
  return parents;
}

RuleMatches find(const LintContext& subject) {
  const auto text = subject.text;
  if (subject.header.directives.empty() || !is_shell_script(text)) return {};
  for (const auto parent : find_home_parents(text))
    for (auto at = text.find(parent); at != std::string_view::npos; at = text.find(parent, at + 1)) {
      auto end = at + parent.size();
      while (end < text.size() && text[end] != '/' && is_path_char(text[end])) ++end;
      const auto name = text.substr(at + parent.size(), end - at - parent.size());
      const bool begins = at > 0 && !is_path_char(text[at - 1]) && text[at - 1] != '}';
      if (name.empty() || !begins || is_shared_name(name) || is_in_comment(text, at)) continue;
      return {{{at, end - at},
               fmt::format("{}{} is a directory of one user, but {}$USER is used elsewhere", parent, name,
                           parent),
               "use $USER in both paths, or the name in both"}};
    }
  return {};
}

} // namespace safety_user_path

Rule rule_safety_user_path() {
  using namespace safety_user_path;
  return {
      .id = "safety/user-path",
      .severity = diag::Severity::warning,
      .title = "One user's path next to $USER",
      .why = "For the user of that name both paths are the same. For everybody else the script mixes two "
             "homes, and one of them does not exist or is not readable.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Bourne-Shell-Variables.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
export PATH=/home/$USER/bin:$PATH
cd /home/jsmith/project
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
export PATH=/home/$USER/bin:$PATH
cd /home/$USER/project
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
