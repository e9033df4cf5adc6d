// SPDX-License-Identifier: MIT
#include "generate/import_script/batch_program.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "check/launch_facts.hpp"
#include "core/launch_chain/unknown_arguments.hpp"
#include "core/util/text.hpp"

namespace hpcml::import_script {
namespace {

using launch_chain::Launch;

bool is_one_of_parts(const std::string& text, const auto& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

/// Whether the command may run, and does so where its result is not only a text.
bool may_run(const shell::Command& command) {
  const auto& context = command.context;
  return !context.substitution && !context.uncalled && !context.unreached && !command.calls_function;
}

/// Whether the text of an `eval` sets up an environment: `eval "$(conda shell.bash hook)"`.
bool evaluates_output(const shell::Command& command) {
  const auto words = command.arguments();
  return std::any_of(words.begin(), words.end(), [](const auto& word) {
    return word.text().find("$(") != std::string::npos || word.text().find('`') != std::string::npos;
  });
}

bool is_unknown(const shell::ScriptCommands& view, const shell::Command& command) {
  if (!may_run(command) || command.words.empty()) return false;
  if (command.parent && evaluates_output(view.commands[*command.parent])) return false;
  if (!command.program) return true;
  const auto arguments = command.arguments();
  return command.name() == "eval" && !evaluates_output(command) &&
         std::any_of(arguments.begin(), arguments.end(), [](const auto& word) { return !word.known(); });
}

/// Whether the sourced file is one of commands, not of settings: "train.sh", not "env.sh".
bool is_script_of_commands(const std::string& file) {
  static constexpr std::array<std::string_view, 17> k_settings = {
      "activate", "bashrc", "common", "conda", "config",  "env",      "func",    "init", "lib",
      "mamba",    "module", "path",   "prof",  "setting", "set_vars", "setvars", "util"};
  const auto name = util::to_lower(util::base_name(file));
  return name.find("setup") == std::string::npos && !is_one_of_parts(name, k_settings);
}

/// The first operand of a shell or of Python; nothing if a text is the program, or if there is none.
const shell::Argument* file_of(const Launch& launch) {
  for (const auto& word : launch.last().operands) {
    const auto text = word.text();
    if (!text.starts_with("-")) return &word;
    if (!text.starts_with("--") && text.find('c') != std::string::npos) return nullptr; // bash -lc TEXT
  }
  return nullptr;
}

/// Whether the program's name is none of a tool's; `wandb agent` and `xargs python` run programs.
bool has_name_of_program(const Launch& launch) {
  const auto& link = launch.last();
  if (link.program == "wandb") return !link.operands.empty() && link.operands.front().text() == "agent";
  if (link.program == "xargs")
    return std::any_of(link.operands.begin(), link.operands.end(),
                       [](const auto& word) { return launch_chain::is_run_by_python(word.text()); });
  return !check::is_utility(launch) && !check::is_shell(launch);
}

/// Whether the batch script itself starts what the launch names. `waits`: it waits for what runs in the
/// background.
bool is_started_by_script(const Launch& launch, bool waits) {
  const auto& command = *launch.command;
  if (!may_run(command) || (command.context.background && !waits) || command.parent) return false;
  return !launch.step() && !launch.agent() && !launch.container();
}

bool may_be_program(const Launch& launch, bool waits = false) {
  if (!is_started_by_script(launch, waits)) return false;
  const auto& link = launch.last();
  const auto& name = link.program;
  if (name == "source" || name == ".")
    return !link.operands.empty() && is_script_of_commands(link.operands.front().text());
  if (name == "bash" || name == "sh") return file_of(launch) != nullptr;
  if (name == "python") return link.module.empty() && (file_of(launch) != nullptr || !link.complete);
  return has_name_of_program(launch);
}

/// A launcher or an image whose program is not known.
bool is_unread_launch(const Launch& launch) {
  return !launch.command->context.substitution && (launch.step() || launch.agent() || launch.container()) &&
         !check::is_tool(launch);
}

} // namespace

bool runs_batch_program(const Launch& launch) {
  if (check::starts_python_file(launch)) return may_run(*launch.command) && !launch.command->parent;
  const auto& name = launch.last().program;
  const bool is_shell = name == "bash" || name == "sh";
  return may_be_program(launch) &&
         (is_shell || (launch.command->words.size() > 1 && name.find_first_of("-_.") != std::string::npos));
}

const shell::Command* find_unknown_command(const shell::ScriptCommands& view) {
  const auto found = std::find_if(view.commands.begin(), view.commands.end(),
                                  [&](const auto& command) { return is_unknown(view, command); });
  return found == view.commands.end() ? nullptr : &*found;
}

const Launch* find_batch_program(const std::vector<Launch>& launches, const shell::ScriptCommands& view) {
  if (find_unknown_command(view) || std::any_of(launches.begin(), launches.end(), is_unread_launch))
    return nullptr;
  const bool waits = std::any_of(view.commands.begin(), view.commands.end(),
                                 [](const auto& command) { return command.name() == "wait"; });
  const Launch* best = nullptr;
  for (const auto& launch : launches) // the one with most to say, and of equals the last
    if (may_be_program(launch, waits) &&
        (!best || launch.command->words.size() >= best->command->words.size()))
      best = &launch;
  return best;
}

} // namespace hpcml::import_script
