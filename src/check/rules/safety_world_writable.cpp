// SPDX-License-Identifier: MIT
// Rights for everybody on a file system that all users share.
#include <algorithm>

#include "check/rule.hpp"
#include "core/shell/shell_names.hpp"

namespace hpcml::check {
namespace safety_world_writable {

/// "777", "0666", "a+rwx", "o+w", "ugo=rw".
bool is_for_all(const std::string& mode) {
  if (!mode.empty() && std::all_of(mode.begin(), mode.end(), shell::is_digit))
    return mode.size() >= 3 && ((mode.back() - '0') & 2) != 0 && !(mode.size() == 4 && mode[0] == '1');
  const auto sign = mode.find_first_of("+=");
  if (sign == std::string::npos || sign == 0 || mode.find(',') != std::string::npos) return false;
  return mode.substr(0, sign).find_first_of("ao") != std::string::npos &&
         mode.substr(0, sign).find_first_not_of("ugoa") == std::string::npos &&
         mode.substr(sign).find('w') != std::string::npos;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    if (command.name() != "chmod" || command.context.uncalled) continue;
    const auto words = command.arguments();
    const auto mode = std::find_if(words.begin(), words.end(),
                                   [](const shell::Argument& word) { return !word.text().starts_with("-"); });
    if (mode != words.end() && mode->known() && is_for_all(mode->text()))
      hits.push_back({command.place, "every user of the site may change these files",
                      "use group permissions (chmod g+w), or an ACL for single users (setfacl)"});
  }
  return hits;
}

} // namespace safety_world_writable

Rule rule_safety_world_writable() {
  using namespace safety_world_writable;
  return {
      .id = "safety/world-writable",
      .severity = diag::Severity::warning,
      .title = "World-writable files",
      .why =
          "On a cluster \"everybody\" is every user of the site: with 777 others can replace a script or a "
          "checkpoint that your next "
          "job runs with your rights.",
      .link = "https://www.gnu.org/software/coreutils/manual/html_node/File-permissions.html",
      .bad = {R"(#!/bin/bash
chmod 777 out
)"},
      .good = {R"(#!/bin/bash
chmod 755 out
)"},
      .find = find,
  };
}

} // namespace hpcml::check
