// SPDX-License-Identifier: MIT
// Exit codes of commands that are not meant.
#include <fmt/format.h>
#include <optional>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_wrong_status {

/// A line with those that it continues, without its comment.
struct Line {
  std::string_view text;
  std::size_t offset = 0;
};

/// The commands of the lines before the place, from the last one that is neither a comment nor empty.
std::optional<Line> line_before(std::string_view text, std::size_t offset) {
  while (offset > 0) {
    auto line = line_at(text, offset - 1);
    const auto end = line.offset + line.length;
    while (line.offset > 1 && text[line.offset - 2] == '\\')
      line.offset = line_at(text, line.offset - 1).offset;
    offset = line.offset;
    const auto written = util::trim(text.substr(line.offset, end - line.offset));
    if (!written.empty() && !written.starts_with('#')) return Line{written, line.offset};
  }
  return std::nullopt;
}

/// The name of the command in the line that always succeeds; empty for other lines.
std::string_view harmless_command(std::string_view line) {
  for (const std::string_view name : {"echo", "printf", "date"})
    if (line.starts_with(name) && (line.size() == name.size() || line[name.size()] == ' ') &&
        line.find("||") == std::string_view::npos && line.find("&&") == std::string_view::npos &&
        line.find(';') == std::string_view::npos && line.find("$?") == std::string_view::npos)
      return name;
  return {};
}

/// True if the exit code of the line's pipeline is that of tee.
bool ends_in_tee(std::string_view line) {
  const auto pipe = line.rfind('|');
  if (pipe == std::string_view::npos || (pipe > 0 && line[pipe - 1] == '|')) return false;
  const auto begin = line.find_first_not_of("|& \t", pipe);
  if (begin == std::string_view::npos) return false; // the pipeline continues in the next line
  const auto last = line.substr(begin);
  return last.starts_with("tee ") && last.find(';') == std::string_view::npos;
}

/// True if the line only prints the code.
bool is_printed(std::string_view line) { return line.starts_with("echo ") || line.starts_with("printf "); }

/// True if another command is before the place on its line, or quotes that may keep it from bash.
bool has_other_before(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  const auto before = text.substr(line.offset, at - line.offset);
  return is_in_comment(text, at) || before.find_first_of(";&|'") != std::string_view::npos;
}

/// The command whose exit code the place reads and that says nothing of the work; empty where there is none.
std::string_view status_source(const LintContext& subject, const Launch& work, std::size_t at,
                               bool sees_pipes) {
  const auto previous = line_before(subject.text, line_at(subject.text, at).offset);
  if (!previous || (previous->offset < work.command->place.offset && !subject.is_in_text(at))) return {};
  return sees_pipes && ends_in_tee(previous->text) ? "tee" : harmless_command(previous->text);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto text = subject.text;
  if (text.find("$?") == std::string_view::npos || !is_shell_script(text)) return hits;
  const auto* work = first_work(subject);
  if (!work) return hits;
  const bool sees_pipes =
      text.find("pipefail") == std::string_view::npos && text.find("PIPESTATUS") == std::string_view::npos;
  for (auto at = text.find("$?"); at != std::string_view::npos; at = text.find("$?", at + 2)) {
    if (has_other_before(text, at)) continue;
    const auto source = status_source(subject, *work, at, sees_pipes);
    if (source.empty()) continue;
    const auto line = line_at(text, at);
    hits.add(
        {{at, 2},
         fmt::format("$? is the exit code of {} here, not that of the program", source),
         source == "tee" ? "use ${PIPESTATUS[0]}" : "set code=$? directly after the program, and use $code",
         {},
         is_printed(util::trim(text.substr(line.offset, line.length))) ? std::optional(diag::Severity::note)
                                                                       : std::nullopt});
  }
  return hits;
}

} // namespace safety_wrong_status

Rule rule_safety_wrong_status() {
  using namespace safety_wrong_status;
  return {
      .id = "safety/wrong-status",
      .severity = diag::Severity::warning,
      .title = "Exit code of another command",
      .why = "$? is the exit code of the command directly before it. After echo or a pipe with tee it is 0 "
             "whatever the training returned, so the script prints and returns success.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Special-Parameters.html",
      .bad = {R"(#!/bin/bash
srun python train.py
echo "finished"
exit $?
)"},
      .good = {R"(#!/bin/bash
srun python train.py
code=$?
echo "finished"
exit $code
)"},
      .find = find,
  };
}

} // namespace hpcml::check
