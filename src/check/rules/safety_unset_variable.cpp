// SPDX-License-Identifier: MIT
// Variables that are read and never set.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <vector>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/shell/shell_names.hpp"

namespace hpcml::check {
namespace safety_unset_variable {

/// True if the name in capitals is that of a program's setting, which no environment has: SEED, NUM_EPOCHS.
bool is_program_setting(std::string_view name) {
  static constexpr std::array<std::string_view, 26> k_names = {
      "ARCH",          "BATCH",    "BATCH_SIZE", "BS",        "CKPT",        "CONFIG",     "CONFIG_FILE",
      "DATASET",       "DROPOUT",  "EPOCH",      "EPOCHS",    "EXP_NAME",    "FOLD",       "HIDDEN_SIZE",
      "LEARNING_RATE", "LR",       "MAX_EPOCHS", "MAX_STEPS", "MODEL_NAME",  "MODEL_PATH", "NUM_EPOCHS",
      "NUM_WORKERS",   "RUN_NAME", "SEED",       "SPLIT",     "WEIGHT_DECAY"};
  return std::binary_search(k_names.begin(), k_names.end(), name);
}

/// The name of the variable of which the piece is the value and nothing more; empty for other pieces. Small
/// letters, or a program's setting: other names in capitals come from the environment.
std::string variable_of(const shell::ArgumentPiece& piece) {
  std::string_view text = piece.text;
  if (piece.known || !text.starts_with('$')) return {};
  text.remove_prefix(1);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  const bool small =
      !text.empty() && text[0] >= 'a' && text[0] <= 'z' && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  return small || is_program_setting(text) ? std::string(text) : std::string();
}

/// True if a command before the name on its line sets variables: "read k".
bool may_declare(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 14> k_commands = {
      "((",       "declare ",   "export ", "for ",       "getopts ", "let ",     "local ",
      "mapfile ", "printf -v ", "read ",   "readarray ", "select ",  "typeset ", "unset "};
  const auto line = line_at(text, at);
  const auto before = text.substr(line.offset, at - line.offset);
  return std::any_of(k_commands.begin(), k_commands.end(),
                     [&](auto command) { return before.find(command) != std::string_view::npos; });
}

/// True if the text there assigns the variable, or may: "k=", "k+=", "for k in", "read k", "--k" is none.
bool may_assign(std::string_view text, std::size_t at, std::size_t length) {
  const auto end = at + length;
  if (at > 0 && (text[at - 1] == '$' || text[at - 1] == '-' || text[at - 1] == '.' || text[at - 1] == '/'))
    return false;
  if (at > 1 && text[at - 1] == '{' && text[at - 2] == '$') return end < text.size() && text[end] != '}';
  const auto next = text.substr(end, 2);
  if (next.starts_with('=') || next == "+=" || next.starts_with('[') || next == "++") return true;
  return may_declare(text, at);
}

/// Where the script may assign the variable; nothing where it never does.
std::optional<std::size_t> find_assignment(std::string_view text, const std::string& name) {
  for (auto at = shell::find_name(text, name); at != std::string_view::npos;
       at = shell::find_name(text, name, at + 1))
    if (!is_in_comment(text, at) && may_assign(text, at, name.size())) return at;
  return std::nullopt;
}

/// Why a variable is empty where a command reads it.
enum class Unset : std::uint8_t { everywhere, until_later };

/// Nothing where the variable may have a value.
std::optional<Unset> how_unset(const LintContext& subject, const shell::Command& command,
                               const std::string& name) {
  const auto assigned = find_assignment(subject.text, name);
  if (!assigned) return Unset::everywhere;
  const bool later = *assigned > command.place.offset + command.place.length;
  const bool again = command.context.loop || !command.context.function.empty();
  return later && !again ? std::optional(Unset::until_later) : std::nullopt;
}

/// The first variable without a value that a program gets.
struct Reading {
  diag::TextRange place;
  std::string name;
  bool later = false;
};

/// The variables without a value that one command reads; `known` has the names of earlier ones.
void add_readings(const LintContext& subject, const shell::Command& command, std::set<std::string>& known,
                  std::vector<Reading>& readings) {
  for (const auto& word : command.words)
    for (const auto& piece : word.pieces) {
      const auto name = variable_of(piece);
      if (name.empty() || piece.place.offset >= subject.text.size() || !known.insert(name).second) continue;
      if (const auto unset = how_unset(subject, command, name))
        readings.push_back({piece.place, name, *unset == Unset::until_later});
    }
}

RuleMatches find(const LintContext& subject) {
  const auto text = subject.text;
  if (subject.header.directives.empty() || !is_shell_script(text) ||
      text.find('$', subject.header.end) == std::string_view::npos)
    return {};
  std::set<std::string> known;
  std::vector<Reading> readings;
  for (const auto& launch : subject.launches) {
    const auto& command = *launch.command;
    if (does_work(launch) && !command.parent && command.context.script.empty() && !command.context.inexact)
      add_readings(subject, command, known, readings);
  }
  if (readings.empty() || has_hidden_assignments(subject)) return {};
  const auto& [place, name, later] = readings.front();
  if (later)
    return {{place, fmt::format("{} is set further down only, so it is empty here", name),
             "set it above this line"}};
  return {{place,
           fmt::format("nothing in the script sets {}{}, which only sbatch's environment could", name,
                       readings.size() > 1 ? fmt::format(" and {} more", readings.size() - 1) : ""),
           fmt::format("use ${{{}:?not set}}, which ends the job at once", name)}};
}

} // namespace safety_unset_variable

Rule rule_safety_unset_variable() {
  using namespace safety_unset_variable;
  return {
      .id = "safety/unset-variable",
      .severity = diag::Severity::note,
      .title = "Variable that nothing sets",
      .why = "The script reads a variable that it never sets, or sets only further down. Unless the "
             "environment of sbatch has it, the text is empty: an option loses its value, or a path a part.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Shell-Parameter-Expansion.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
python train.py --ratio ${k} --epochs 10
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
k=0.5
python train.py --ratio ${k} --epochs 10
)"},
      .find = find,
      .yields_to = {{"safety/misspelt-variable"}},
  };
}

} // namespace hpcml::check
