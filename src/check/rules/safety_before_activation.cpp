// SPDX-License-Identifier: MIT
// Commands of an environment that run before it is activated.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_before_activation {

/// True if the command is of the script's own level and runs in any case.
bool runs_always(const shell::Command& command) {
  const auto& context = command.context;
  return !command.parent && !context.condition && !context.loop && !context.subshell && !context.uncalled &&
         !context.unreached && !context.guarded && !context.trap && context.function.empty();
}

/// `conda activate NAME`, `source NAME/bin/activate`.
bool activates(const shell::Command& command) {
  const auto name = program_name(command);
  const bool conda = name == "conda" || name == "mamba" || name == "micromamba";
  const auto words = command.arguments();
  if ((!conda && name != "source" && name != ".") || words.empty()) return false;
  const auto first = words[0].text();
  const bool named = first == "activate" && words.size() > 1;
  return named || (!conda && first.ends_with("/bin/activate"));
}

/// What the command does in the environment of the moment: installs packages; empty for other commands.
std::string_view work_in_environment(const shell::Command& command) {
  const auto name = program_name(command);
  const auto words = command.arguments();
  if (words.empty()) return "";
  if (name == "pip" || name == "pip3")
    return words[0].text() == "install" && !has_word(words, "--user") ? "pip installs" : "";
  if (name != "wandb" && name != "huggingface-cli") return "";
  return words[0].text() != "login" ? "" : name == "wandb" ? "wandb is run" : "huggingface-cli is run";
}

/// True if the packages are those that create an environment: pip install virtualenv.
bool prepares_environment(const LintContext& subject, const shell::Command& command) {
  const auto words = command.arguments();
  const bool tool = std::any_of(words.begin(), words.end(), [](const auto& word) {
    const auto text = word.text();
    return text.starts_with("virtualenv") || text.starts_with("conda") || text == "uv";
  });
  const auto& text = subject.text;
  return tool || text.find("-m venv") != std::string_view::npos ||
         text.find("virtualenv ") != std::string_view::npos ||
         text.find("uv venv") != std::string_view::npos ||
         text.find("conda create") != std::string_view::npos ||
         text.find("conda env create") != std::string_view::npos;
}

/// True if the command may activate an environment in a way that is not visible.
bool may_activate(const shell::Command& command) {
  return !command.program || command.calls_function || activates(command) ||
         ((is_program(command, "source") || is_program(command, ".")) && !command.arguments().empty() &&
          command.arguments()[0].text().find("conda.sh") == std::string::npos &&
          command.arguments()[0].text().find("bashrc") == std::string::npos);
}

/// True if the command works in an environment that a later line activates.
bool may_be_early(const LintContext& subject, const shell::Command& command) {
  return runs_always(command) && !work_in_environment(command).empty() &&
         !prepares_environment(subject, command);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto& commands = subject.listing.commands;
  if (std::none_of(commands.begin(), commands.end(), activates) || !subject.listing.complete) return hits;
  const shell::Command* early = nullptr;
  for (const auto& command : commands) {
    if (early && runs_always(command) && activates(command)) {
      hits.add({early->place,
                fmt::format("{} before the environment is activated, so not in that environment",
                            work_in_environment(*early)),
                "move it below the line that activates the environment"});
      return hits;
    }
    if (early ? !command.parent && is_program(command, "python") : may_activate(command))
      return hits; // what was installed is used before, or an environment is active
    if (!early && may_be_early(subject, command)) early = &command;
  }
  return hits;
}

} // namespace safety_before_activation

Rule rule_safety_before_activation() {
  using namespace safety_before_activation;
  return {
      .id = "safety/before-activation",
      .severity = diag::Severity::warning,
      .title = "Command before its environment is activated",
      .why =
          "pip installs into the environment that is active when it runs. Before conda activate, or before "
          "source venv/bin/activate, that is the system's or the module's: the installation fails or goes "
          "to ~/.local, and the program does not find the package.",
      .link = "https://docs.python.org/3/library/venv.html#how-venvs-work",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
pip install einops
source ~/venv/bin/activate
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
source ~/venv/bin/activate
pip install einops
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
