// SPDX-License-Identifier: MIT
// Commands that do not exist and are one typo away from common ones.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <span>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "check/typo.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_misspelt_command {

constexpr std::array<std::string_view, 28> k_commands = {
    "accelerate", "apptainer", "conda",  "deactivate", "deepspeed",   "echo",   "exit",
    "export",     "hostname",  "mkdir",  "module",     "mpiexec",     "mpirun", "nvidia-smi",
    "python",     "python3",   "rsync",  "sbatch",     "scontrol",    "sleep",  "singularity",
    "source",     "srun",      "squeue", "torchrun",   "tensorboard", "unset",  "virtualenv"};

/// For each letter, which of the commands begin with it: one bit per command.
constexpr auto k_beginning_with = [] {
  std::array<std::uint32_t, 26> sets{};
  for (std::size_t i = 0; i < k_commands.size(); ++i)
    sets[static_cast<std::size_t>(k_commands[i][0] - 'a')] |= 1U << i;
  return sets;
}();

std::uint32_t commands_with(char letter) {
  return letter >= 'a' && letter <= 'z' ? k_beginning_with[static_cast<std::size_t>(letter - 'a')] : 0;
}

/// The commands that another one has; shorter forms of them are valid too.
constexpr auto k_of_module = std::to_array<std::string_view>(
    {"add",    "apropos", "avail",     "clear",     "config", "del",      "display",   "edit",    "help",
     "info",   "initadd", "initclear", "initlist",  "initrm", "is-avail", "is-loaded", "is-used", "keyword",
     "list",   "load",    "load-any",  "mod-to-sh", "path",   "paths",    "purge",     "refresh", "reload",
     "remove", "reset",   "restore",   "rm",        "save",   "savelist", "savelists", "search",  "show",
     "source", "spider",  "state",     "stash",     "swap",   "switch",   "test",      "try-add", "try-load",
     "unload", "unuse",   "update",    "use",       "whatis"});
constexpr auto k_of_conda = std::to_array<std::string_view>(
    {"activate",  "build", "clean",  "compare", "config",    "create",  "deactivate", "doctor", "env",
     "export",    "info",  "init",   "install", "list",      "notices", "package",    "remove", "rename",
     "repoquery", "run",   "search", "shell",   "uninstall", "update",  "upgrade"});

/// True if the name is the command with a typo. Programs are often called like others with a letter before
/// or after: ipython, usleep, batch.
bool is_typo(std::string_view name, std::string_view command) {
  if (!is_single_typo(name, command)) return false;
  const bool swapped =
      name.size() == command.size() && std::is_permutation(name.begin(), name.end(), command.begin());
  if (swapped) return true;
  constexpr std::size_t k_short = 4; // crun is not srun
  return command.size() > k_short && name.front() == command.front() &&
         (name.size() < command.size() || name.back() == command.back());
}

/// True if the name is a command of bash's own, or a function that every shell of a cluster has, in capitals:
/// "EXPORT". Programs with capitals exist.
bool has_wrong_capitals(std::string_view name, std::string_view command) {
  static constexpr auto k_of_shell =
      std::to_array<std::string_view>({"conda", "echo", "exit", "export", "module", "source", "unset"});
  return util::contains(k_of_shell, command) && util::to_lower(name) == command;
}

bool has_digit(std::string_view text) { return text.find_first_of("0123456789") != std::string_view::npos; }

/// Programs of sites that are called nearly like others.
constexpr std::array<std::string_view, 1> k_others = {"mpprun"};

/// The command that is meant by a name; empty if the name may be that of a program.
std::string_view meant_command(std::string_view name) {
  if (name.size() < 4) return {};
  // The first letter is hardly ever wrong, except for a swap and for capitals.
  const bool capital = name[0] >= 'A' && name[0] <= 'Z';
  auto left = capital ? commands_with(static_cast<char>(name[0] - 'A' + 'a'))
                      : commands_with(name[0]) | commands_with(name[1]);
  std::string_view meant;
  for (; left != 0; left &= left - 1) {
    const auto command = k_commands[static_cast<std::size_t>(std::countr_zero(left))];
    if (name.size() + 1 - command.size() > 2) continue;
    if (name == command) return {};
    if ((is_typo(name, command) || (capital && has_wrong_capitals(name, command))) &&
        has_digit(name) == has_digit(command))
      meant = command;
  }
  return util::contains(k_others, name) ? std::string_view() : meant;
}

/// The one that is meant by a word that none of the names begins with; empty where there is none.
std::string_view meant_name(std::string_view word, std::span<const std::string_view> names) {
  if (word.size() < 3 ||
      std::any_of(names.begin(), names.end(), [&](auto name) { return name.starts_with(word); }))
    return {};
  const auto found = std::find_if(names.begin(), names.end(), [&](auto name) {
    return name.size() >= 4 && name.front() == word.front() && is_single_typo(word, name);
  });
  return found == names.end() ? std::string_view() : *found;
}

/// True if the script itself may define a command of that name.
bool is_defined(std::string_view text, std::string_view name) {
  for (const std::string_view before : {"function ", "alias "})
    if (text.find(std::string(before) + std::string(name)) != std::string_view::npos) return true;
  return text.find(std::string(name) + "()") != std::string_view::npos ||
         text.find(std::string(name) + " ()") != std::string_view::npos;
}

/// True if the word is in the script as such, and is not the value of a variable.
bool is_written(const LintContext& subject, const shell::Argument& word, std::string_view text) {
  return word.text() == text && subject.text.substr(word.place.offset, word.place.length) == text;
}

/// Reports the command if nothing has its name.
void check_name(const LintContext& subject, const shell::Command& command, std::string_view name,
                RuleMatches& hits) {
  const auto meant = meant_command(name);
  if (meant.empty()) return;
  const auto& word = command.words[*command.program];
  if (is_written(subject, word, name) && !is_defined(subject.text, name))
    hits.add({word.place,
              fmt::format("bash finds no command '{}'", name),
              fmt::format("use {}", meant),
              {{word.place.offset, word.place.length, std::string(meant)}}});
}

/// Reports the first word after `module` or `conda` if they have no such command.
void check_subcommand(const LintContext& subject, const shell::Command& command, std::string_view name,
                      RuleMatches& hits) {
  const bool module = name == "module";
  const auto words = command.arguments();
  if ((!module && name != "conda" && name != "mamba" && name != "micromamba") || words.empty()) return;
  const auto word = words[0].text();
  auto meant = meant_name(word, module ? std::span<const std::string_view>(k_of_module) : k_of_conda);
  if (!module && word == "active") meant = "activate";
  if (!meant.empty() && is_written(subject, words[0], word))
    hits.add({words[0].place,
              fmt::format("{} has no command '{}'", name, word),
              fmt::format("use {}", meant),
              {{words[0].place.offset, words[0].place.length, std::string(meant)}}});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!is_shell_script(subject.text)) return hits;
  for (const auto& command : subject.listing.commands) {
    const auto& context = command.context;
    if (context.uncalled || context.unreached || context.inexact || command.calls_function || command.parent)
      continue;
    const auto name = program_name(command);
    if (name.empty()) continue;
    check_name(subject, command, name, hits);
    check_subcommand(subject, command, name, hits);
  }
  return hits;
}

} // namespace safety_misspelt_command

Rule rule_safety_misspelt_command() {
  using namespace safety_misspelt_command;
  return {
      .id = "safety/misspelt-command",
      .severity = diag::Severity::warning,
      .title = "Misspelt command",
      .why =
          "bash prints \"command not found\" and continues with the next line. The module, the environment "
          "or the variable that the line should bring is missing, and the program fails later or runs with "
          "something else.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Command-Search-and-Execution.html",
      .bad = {R"(#!/bin/bash
soruce venv/bin/activate
python train.py
)"},
      .good = {R"(#!/bin/bash
source venv/bin/activate
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
