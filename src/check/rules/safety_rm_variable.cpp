// SPDX-License-Identifier: MIT
// rm -r on a path that is / when its variable is empty.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/typo.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_rm_variable {

/// Slurm and the login always set them.
constexpr std::array<std::string_view, 9> k_set = {"HOME",         "USER",         "PWD",
                                                   "SLURM_JOB_ID", "SLURM_JOBID",  "SLURM_SUBMIT_DIR",
                                                   "SLURM_NODEID", "SLURM_PROCID", "SLURM_JOB_NAME"};

/// The name of "$NAME" or "${NAME}"; empty for everything else.
std::string_view plain_name(std::string_view piece) {
  if (piece.size() < 2 || piece[0] != '$') return {};
  auto name = piece.substr(1);
  if (name[0] == '{' && name.back() == '}') name = name.substr(1, name.size() - 2);
  return shell::is_name(name) ? name : std::string_view();
}

bool removes_directories(const shell::Command& command) {
  if (command.name() != "rm") return false;
  const auto words = command.arguments();
  return std::any_of(words.begin(), words.end(), [](const shell::Argument& word) {
    const auto text = word.text();
    return text == "--recursive" || (text.size() > 1 && text[0] == '-' && text[1] != '-' &&
                                     text.find_first_of("rR") != std::string::npos);
  });
}

/// `rest`: the rest of the word, as written in the script, up to the space after it.
bool is_root_without(std::string_view rest) {
  return rest == "/" || rest == "/*" || rest == "/." || rest == "/.*";
}

/// Whether the text has the name where it is assigned or otherwise written, but not where it is read.
bool is_written(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const char before = at == 0 ? '\n' : text[at - 1];
    const auto end = at + name.size();
    if (!util::is_name_char(before) && before != '$' && before != '{' &&
        (end == text.size() || !util::is_name_char(text[end])))
      return true;
  }
  return false;
}

std::string without_underscores(std::string_view name) {
  return util::replace_all(std::string(name), "_", "");
}

/// The names, without underscores, that the script assigns at the start of a line.
std::vector<std::string> assigned_names(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& line : util::split(std::string(text), '\n')) {
    auto words = util::trim(line);
    if (words.starts_with("export ")) words = util::trim(words.substr(7));
    const auto name = words.substr(0, words.find('='));
    if (name.size() < words.size() && shell::is_name(name)) names.push_back(without_underscores(name));
  }
  return names;
}

/// Whether nothing can have set the variable: the script never assigns it, no file or argument of it may, and
/// it is in small letters, as no environment has, or a typo of a variable that the script assigns.
bool is_never_set(const LintContext& subject, std::string_view name) {
  if (is_written(subject.text, name)) return false;
  const bool small = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!small && !nearest_typo(without_underscores(name), assigned_names(subject.text))) return false;
  return std::none_of(subject.listing.commands.begin(), subject.listing.commands.end(),
                      [](const auto& command) {
                        const auto program = command.name();
                        return !program || *program == "source" || *program == "." || *program == "eval" ||
                               *program == "module" || *program == "ml";
                      });
}

/// What rm removes if the variable is empty; empty where it is certainly set, or that is harmless.
std::string removed_without(const LintContext& subject, std::string_view name, const std::string& rest) {
  if (name.empty() || std::find(k_set.begin(), k_set.end(), name) != k_set.end()) return {};
  if (is_root_without(rest)) return fmt::format("if {} is empty, this is rm -rf /", name);
  if (!rest.starts_with("/") || !is_never_set(subject, name)) return {};
  return fmt::format("nothing sets {}: this removes {}", name, rest);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  bool stops_at_unset = false;
  for (const auto& command : subject.listing.commands) {
    const auto words = command.arguments();
    if (command.name() == "set")
      for (const auto& word : words) {
        const auto text = word.text();
        stops_at_unset = stops_at_unset || text == "nounset" ||
                         (text.size() > 1 && text[0] == '-' && text.find('u') != std::string::npos);
      }
    if (stops_at_unset || command.context.condition || command.context.guarded || command.context.uncalled ||
        !removes_directories(command))
      continue;
    for (const auto& word : words) {
      if (word.pieces.empty() || word.pieces[0].known || !word.pieces[0].text.starts_with("$"))
        continue; // known, but for its '*'
      const auto written = subject.text.substr(word.place.offset, word.place.length);
      auto at = written.find_first_not_of('"');
      if (at == std::string_view::npos || written[at] != '$') continue;
      const auto braced = written.substr(at, 2) == "${";
      const auto end =
          braced ? written.find('}', at) + 1
                 : std::min(written.find_first_not_of(
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", at + 1),
                            written.size());
      const auto name = plain_name(written.substr(at, end - at));
      const auto rest = util::replace_all(std::string(written.substr(end)), "\"", "");
      auto message = removed_without(subject, name, rest);
      if (message.empty()) continue;
      hits.push_back({word.place,
                      std::move(message),
                      "use ${" + std::string(name) + ":?}, which then stops the script",
                      {{word.place.offset + at, end - at, "${" + std::string(name) + ":?}"}}});
    }
  }
  return hits;
}

} // namespace safety_rm_variable

Rule rule_safety_rm_variable() {
  using namespace safety_rm_variable;
  return {
      .id = "safety/rm-variable",
      .severity = diag::Severity::warning,
      .title = "rm -rf on a variable that may be empty",
      .why =
          "A variable that is not set on the compute node turns the line into rm -rf /*, and rm starts with "
          "whatever the user may delete: home, project and scratch are mounted there.",
      .link = "https://www.shellcheck.net/wiki/SC2115",
      .bad = {R"(#!/bin/bash
rm -rf $SCRATCH/*
)"},
      .good = {R"(#!/bin/bash
rm -rf ${SCRATCH:?}/*
)"},
      .find = find,
  };
}

} // namespace hpcml::check
