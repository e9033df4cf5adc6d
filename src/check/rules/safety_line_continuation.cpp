// SPDX-License-Identifier: MIT
// Commands over several lines that end too early or too late.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_line_continuation {

/// The line with the byte, without spaces around it.
std::string_view trimmed_line(std::string_view text, std::size_t offset) {
  const auto line = line_at(text, offset);
  return util::trim(text.substr(line.offset, line.length));
}

/// The line before that of the byte; nothing for the first one.
std::optional<diag::TextRange> line_before(std::string_view text, std::size_t offset) {
  const auto line = line_at(text, offset);
  return line.offset == 0 ? std::nullopt : std::optional(line_at(text, line.offset - 1));
}

/// True if only spaces are before the byte on its line.
bool begins_line(std::string_view text, std::size_t offset) {
  const auto line = line_at(text, offset);
  return util::trim(text.substr(line.offset, offset - line.offset)).empty();
}

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

/// True if the line ends in a backslash after which spaces are: it continues nothing.
bool ends_in_escaped_space(std::string_view line) {
  const auto end = line.find_last_not_of(" \t\r");
  return end != std::string_view::npos && end + 1 < line.size() && line[end] == '\\' && line.back() != '\r' &&
         (end == 0 || line[end - 1] != '\\');
}

/// Reports spaces after the backslash at the end of a line.
void find_escaped_spaces(const LintContext& subject, RuleMatches& hits) {
  const auto text = subject.text;
  for (auto at = text.find('\\', subject.header.end); at != std::string_view::npos;
       at = text.find('\\', at + 1)) {
    const auto next = at + 1 < text.size() ? text[at + 1] : '\n';
    if (next != ' ' && next != '\t') continue;
    const auto place = line_at(text, at);
    const auto line = text.substr(place.offset, place.length);
    const auto before = line.substr(0, at - place.offset);
    if (!ends_in_escaped_space(line) || line.find_last_of('\\') != before.size() || subject.is_in_text(at) ||
        is_in_comment(text, at) || std::count(before.begin(), before.end(), '\'') % 2 != 0 ||
        util::trim(before).empty())
      continue;
    const auto following = text.substr(std::min(next_line(text, at), text.size()));
    const auto first = util::trim(following.substr(0, following.find('\n')));
    if (first.empty() || first.starts_with('#')) continue; // only an argument too many
    const bool is_option = first.starts_with('-');
    hits.add({{at, place.offset + place.length - at},
              "a space after the backslash: the command ends here, and the next line is a separate command",
              "remove the space after the backslash",
              is_option ? std::vector<Edit>{{at + 1, place.offset + place.length - at - 1, ""}}
                        : std::vector<Edit>()});
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// True if the command does the job's work.
bool does_work_at(const LintContext& subject, const shell::Command& command) {
  const auto& launches = subject.launches; // in the order of the commands
  const auto found = std::partition_point(launches.begin(), launches.end(),
                                          [&](const Launch& launch) { return launch.command < &command; });
  return found != launches.end() && found->command == &command && does_work(*found);
}

/// True if the command before may have the option: one of several lines, or of the job's work.
bool follows_long_command(const LintContext& subject, const shell::Command& command) {
  const auto& commands = subject.listing.commands;
  const auto* before = &command;
  while (before != commands.data()) {
    --before;
    if (before->parent || before->context.substitution) continue;
    const auto words = subject.text.substr(before->place.offset, before->place.length);
    if (words.starts_with('-')) continue; // also cut off
    return words.find("\\\n") != std::string_view::npos || does_work_at(subject, *before);
  }
  return false;
}

/// What cut the option off its command, which begins the line of the byte.
std::string cause_of(std::string_view text, std::size_t offset) {
  const auto before = line_before(text, offset);
  const auto line = before ? util::trim(text.substr(before->offset, before->length)) : std::string_view();
  if (line.starts_with('#')) return "the comment before it ends the command";
  if (line.empty()) return "the empty line before it ends the command";
  return "the line before has no backslash at its end";
}

/// "-n", "--epochs=10".
bool is_option(std::string_view word) {
  const auto letter = word.find_first_not_of('-');
  return (letter == 1 || letter == 2) && std::isalpha(static_cast<unsigned char>(word[letter])) != 0;
}

/// True if the command is an option at the beginning of a line.
bool is_lone_option(const LintContext& subject, const shell::Command& command) {
  const auto& context = command.context;
  if (!command.program || *command.program != 0 || command.parent || context.inexact || context.unreached)
    return false;
  const auto& word = command.words[0];
  return !word.pieces.empty() && word.pieces[0].known && is_option(word.pieces[0].text) &&
         begins_line(subject.text, word.place.offset);
}

/// Reports options that bash runs as a program.
void find_lone_options(const LintContext& subject, RuleMatches& hits) {
  for (const auto& command : subject.listing.commands) {
    if (!is_lone_option(subject, command) || !follows_long_command(subject, command)) continue;
    const auto& word = command.words[0];
    const auto before = line_before(subject.text, word.place.offset);
    if (!before || ends_in_escaped_space(subject.text.substr(before->offset, before->length))) continue;
    hits.add({word.place,
              fmt::format("bash runs {} as a program: {}", word.text().substr(0, word.text().find('=')),
                          cause_of(subject.text, word.place.offset)),
              "end each line of the command but the last in a backslash, with no comment in between"});
  }
}

/// What a word of a line with redirections only can be.
enum class RedirectionWord : std::uint8_t { none, copy, file, before_file };

/// Of "2>&1" copy, of ">log" file, of ">>" before_file; none of anything else.
RedirectionWord kind_of(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of("0123456789"), word.size()));
  if (word.size() == 3 && word.starts_with(">&") && is_digit(word[2])) return RedirectionWord::copy;
  if (!word.starts_with("&>") && !word.starts_with('>')) return RedirectionWord::none;
  return word.find_first_not_of("&>|") == std::string_view::npos ? RedirectionWord::before_file
                                                                 : RedirectionWord::file;
}

/// True if the line has redirections only; `sure`: of a kind that does nothing without a command.
bool is_redirection(std::string_view line, bool& sure) {
  auto last = RedirectionWord::none;
  for (const auto& word : util::split(std::string(line), ' ')) {
    if (word.empty()) continue;
    if (last == RedirectionWord::before_file) {
      if (word.find_first_of("<>|;&()#") != std::string::npos) return false;
      last = RedirectionWord::file;
      continue;
    }
    last = kind_of(word);
    if (last == RedirectionWord::none) return false;
    sure = sure || last == RedirectionWord::copy || word[0] == '&' || word[0] == '2';
  }
  return last == RedirectionWord::copy || last == RedirectionWord::file;
}

/// True if a command may end on this line, that the next line seems to continue.
bool may_be_continued(std::string_view line) {
  if (line.empty() || line.starts_with('#')) return false;
  static constexpr std::array<std::string_view, 8> k_open = {"then", "do", "else", "{", "(", "&&", "|", "\\"};
  return std::none_of(k_open.begin(), k_open.end(), [&](auto end) { return line.ends_with(end); });
}

/// Reports redirections that no command has.
void find_lone_redirections(const LintContext& subject, RuleMatches& hits) {
  const auto text = subject.text;
  for (auto at = text.find('>', subject.header.end); at != std::string_view::npos;
       at = text.find('>', at + 1)) {
    const auto first = text.find_last_not_of(" \t0123456789&", at - 1);
    if (first == std::string_view::npos || text[first] != '\n') continue;
    const auto place = line_at(text, at);
    const auto line = text.substr(place.offset, place.length);
    const auto words = util::trim(line);
    bool sure = false;
    const auto pipe = words.find(" |");
    const auto before = line_before(text, place.offset);
    if (!before || subject.is_in_text(place.offset) || !is_redirection(words.substr(0, pipe), sure) ||
        (pipe != std::string_view::npos && !sure))
      continue;
    const auto line_above = text.substr(before->offset, before->length);
    const auto above = util::trim(line_above);
    if (!may_be_continued(above) || (!sure && indent_of(line) <= indent_of(line_above))) continue;
    hits.add({{place.offset + indent_of(line), words.size()},
              "this redirects nothing: the line before has no backslash at its end",
              "end the line before in a backslash"});
  }
}

/// True if the line may end a compound command: "done", "fi", "}".
bool closes_block(std::string_view line) {
  static constexpr std::array<std::string_view, 6> k_ends = {"done", "fi", "esac", "}", ")", "else"};
  return std::any_of(k_ends.begin(), k_ends.end(), [&](auto end) { return line.starts_with(end); });
}

/// The first line of a command that continues on the line of the byte.
diag::TextRange first_line(std::string_view text, std::size_t offset) {
  auto line = line_at(text, offset);
  while (line.offset > 1 && text[line.offset - 2] == '\\') line = line_at(text, line.offset - 1);
  return line;
}

/// True if a comment begins the line after that of the backslash.
bool precedes_comment(std::string_view text, std::size_t backslash) {
  const auto sign = text.find_first_not_of(" \t", backslash + 2);
  return sign != std::string_view::npos && text[sign] == '#';
}

/// True if the line, which follows a comment, belongs to the command that the comment ends: it has the
/// indentation of the comment, and more than the command's first line.
bool is_cut_off(std::string_view text, std::size_t backslash, std::string_view comment,
                std::string_view line) {
  const auto words = util::trim(line);
  const bool is_word =
      !words.empty() && (util::is_name_start(words[0]) || words[0] == '$' || words[0] == '"');
  const auto first = first_line(text, backslash);
  const auto before = util::trim(text.substr(first.offset, backslash - first.offset));
  const bool is_open = before.ends_with('|') || before.ends_with('&'); // the next command is part of it
  return is_word && !is_open && !closes_block(words) && indent_of(line) == indent_of(comment) &&
         indent_of(line) > indent_of(text.substr(first.offset, first.length));
}

/// Reports lines that a comment cuts off their command.
void find_cut_lines(const LintContext& subject, RuleMatches& hits) {
  const auto text = subject.text;
  for (auto at = text.find("\\\n", subject.header.end); at != std::string_view::npos;
       at = text.find("\\\n", at + 2)) {
    if (!precedes_comment(text, at) || subject.is_in_text(at) || is_in_comment(text, at)) continue;
    const auto comment = line_at(text, at + 2);
    const auto begin = next_line(text, comment.offset);
    if (begin >= text.size()) continue;
    const auto line = text.substr(begin, line_at(text, begin).length);
    if (is_cut_off(text, at, text.substr(comment.offset, comment.length), line))
      hits.add({{begin + indent_of(line), util::trim(line).size()},
                "this is a separate command: the comment before it ends the command that it belongs to",
                "move the comment above the command"});
  }
}

/// Reports commands that are arguments of the one before, whose last line ends in a backslash.
void find_swallowed(const LintContext& subject, RuleMatches& hits) {
  static constexpr std::array<std::string_view, 16> k_commands = {
      "cd", "cp",     "date",    "deactivate", "echo",  "exit",  "export", "mkdir",
      "mv", "python", "python3", "rm",         "rsync", "sleep", "srun",   "wait"};
  for (const auto& launch : subject.launches) {
    const auto* python = launch.python();
    if (!python || !is_own(launch, *python) || launch.command->parent) continue;
    for (std::size_t i = 1; i < python->operands.size(); ++i) {
      const auto& word = python->operands[i];
      if (word.pieces.size() != 1 || !word.pieces[0].known || word.place.offset >= subject.text.size() ||
          !util::contains(k_commands, std::string_view(word.pieces[0].text)) ||
          !begins_line(subject.text, word.place.offset) || python->operands[i - 1].text().starts_with("--"))
        continue;
      const auto before = line_before(subject.text, word.place.offset);
      if (!before || !trimmed_line(subject.text, before->offset).ends_with('\\')) continue;
      hits.add({word.place,
                fmt::format("{} is an argument of {}: the line before ends in a backslash", word.text(),
                            python->operands[0].text()),
                "remove the backslash at the end of the line before"});
      break;
    }
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!is_shell_script(subject.text)) return hits;
  find_escaped_spaces(subject, hits);
  find_lone_options(subject, hits);
  find_lone_redirections(subject, hits);
  find_swallowed(subject, hits);
  find_cut_lines(subject, hits);
  return hits;
}

} // namespace safety_line_continuation

Rule rule_safety_line_continuation() {
  using namespace safety_line_continuation;
  return {
      .id = "safety/line-continuation",
      .severity = diag::Severity::warning,
      .title = "Broken line continuation",
      .why = "A command continues on the next line only if a backslash is the last character. A space after "
             "it, a comment or an empty line in between end the command: the program runs without its last "
             "arguments, with default values, and nothing stops the job.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Escape-Character.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
python train.py \
    --epochs 10 \
    # --lr 0.1 \
    --resume
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
python train.py \
    --epochs 10 \
    --resume
)"},
      .find = find,
  };
}

} // namespace hpcml::check
