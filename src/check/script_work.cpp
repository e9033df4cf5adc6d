// SPDX-License-Identifier: MIT
#include "check/script_work.hpp"

#include <algorithm>

#include "check/launch_facts.hpp"

namespace hpcml::check {

std::string_view program_name(const shell::Command& command) {
  if (!command.program) return {};
  const auto& pieces = command.words[*command.program].pieces;
  if (pieces.size() != 1 || !pieces[0].known) return {};
  const std::string_view text = pieces[0].text;
  return text.substr(text.rfind('/') + 1); // npos + 1 is 0
}

bool is_program(const shell::Command& command, std::string_view name) {
  return program_name(command) == name;
}

bool does_work(const Launch& launch) {
  if (launch.command->context.substitution) return false;
  if (launch.agent()) return true;
  if (const auto* python = launch.python())
    return python->module.empty() ? !python->operands.empty()
                                  : python->module != "pip" && python->module != "venv";
  return (launch.container() || launch.step()) && !is_utility(launch) && !is_shell(launch);
}

const Launch* first_work(const LintContext& subject) {
  const auto found = std::find_if(subject.launches.begin(), subject.launches.end(), does_work);
  return found == subject.launches.end() ? nullptr : &*found;
}

bool is_in_list(const LintContext& subject, const shell::Command& command) {
  const auto next = subject.text.find_first_not_of(" \t", command.place.offset + command.place.length);
  return next != std::string_view::npos && (subject.text[next] == '&' || subject.text[next] == '|');
}

bool has_hidden_assignments(const LintContext& subject) {
  if (!subject.listing.complete || !subject.listing.unread.empty()) return true;
  for (const std::string_view sign : {"${!", "eval ", "envsubst", "declare -n", "printenv", "{{", "module_"})
    if (subject.text.find(sign) != std::string_view::npos) return true;
  return std::any_of(
      subject.listing.commands.begin(), subject.listing.commands.end(), [](const auto& command) {
        if (command.name() != "source" && command.name() != ".") return false;
        const auto words = command.arguments();
        if (words.empty()) return true;
        const auto text = words[0].text();
        return !text.ends_with("activate") && !text.ends_with("conda.sh") && !text.ends_with(".bashrc") &&
               !text.ends_with("mamba.sh") && text.find("/etc/profile") == std::string::npos;
      });
}

} // namespace hpcml::check
