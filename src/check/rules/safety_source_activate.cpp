// SPDX-License-Identifier: MIT
// The old way to activate a conda environment.
#include <algorithm>
#include <array>
#include <optional>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_source_activate {

/// True if the command may put conda on PATH, or its words name conda.
bool may_bring_conda(const shell::Command& command) {
  const auto name = command.name();
  if (!name || command.calls_function) return true;
  static constexpr std::array<std::string_view, 8> k_names = {".",      "eval",   "export", "ml",
                                                              "module", "source", "spack",  "use"};
  return util::contains(k_names, std::string_view(*name)) ||
         std::any_of(command.words.begin(), command.words.end(),
                     [](const auto& word) { return word.text().find("conda") != std::string::npos; });
}

/// The number at the beginning of the text, which loses it and the dot after it; nothing where none is.
std::optional<unsigned long long> take_number(std::string_view& text) {
  const auto length = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = util::parse_unsigned(text.substr(0, length));
  text.remove_prefix(std::min(text.size(), length + (text.substr(length, 1) == "." ? 1 : 0)));
  return number;
}

/// The version after the name: "4.2.0" of "Anaconda3/4.2.0", "4.4" of "python/3.6-anaconda-4.4".
std::string_view version_after(std::string_view module, std::size_t at) {
  auto rest = module.substr(at);
  if (rest.size() > 1 && (rest[0] == '2' || rest[0] == '3') && (rest[1] == '/' || rest[1] == '-'))
    rest.remove_prefix(1);
  rest.remove_prefix(std::min(rest.find_first_not_of("/-_v"), rest.size()));
  return rest;
}

/// True if the module is an Anaconda, or a Miniconda, with a conda older than 4.4, which has no `conda
/// activate`. Anaconda 5.1 is the first one with conda 4.4, Miniconda has conda's version.
bool is_old_conda(const std::string& module) {
  const auto name = util::to_lower(module);
  const auto at = name.rfind("conda");
  if (at == std::string::npos) return false;
  auto version = version_after(name, at + 5);
  const auto major = take_number(version);
  const auto minor = take_number(version);
  if (!major || !minor) return false;
  if (!std::string_view(name).substr(0, at).ends_with("ana")) return *major == 4 && *minor < 4;
  return (*major == 4 && *minor <= 4) || (*major == 5 && *minor == 0) || (*major == 2 && *minor < 6);
}

/// True if the script loads such a module.
bool loads_old_conda(const shell::Command& command) {
  const auto words = command.arguments();
  return (is_program(command, "module") || is_program(command, "ml")) &&
         std::any_of(words.begin(), words.end(), [](const auto& word) { return is_old_conda(word.text()); });
}

/// True if a login shell, which reads the user's files, runs the script.
bool has_login_shell(std::string_view text) {
  const auto line = shebang_line(text);
  return line.find("bash") == std::string_view::npos || line.find(" -l") != std::string_view::npos ||
         line.find(" -i") != std::string_view::npos || line.find("--login") != std::string_view::npos;
}

/// `source activate NAME`.
bool is_source_of_activate(const shell::Command& command) {
  const auto words = command.arguments();
  return words.size() == 2 && (is_program(command, "source") || is_program(command, ".")) &&
         !command.context.uncalled && words[0].text() == "activate";
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto& commands = subject.listing.commands;
  if (std::none_of(commands.begin(), commands.end(), is_source_of_activate) ||
      std::any_of(commands.begin(), commands.end(), loads_old_conda))
    return hits;
  bool brought = has_login_shell(subject.text) || subject.text.find("PATH=") != std::string_view::npos ||
                 !subject.listing.complete || !subject.unread.empty();
  for (const auto& command : commands) {
    const bool bare = !brought;
    if (!is_source_of_activate(command)) {
      brought = brought || may_bring_conda(command);
      continue;
    }
    brought = true; // reported once
    hits.push_back(
        {command.place,
         bare ? "source activate is the old command of conda, and nothing in the script puts conda on PATH"
              : "source activate is the old command of conda",
         "use: source \"$(conda info --base)/etc/profile.d/conda.sh\"; conda activate " +
             command.arguments()[1].text()});
  }
  return hits;
}

} // namespace safety_source_activate

Rule rule_safety_source_activate() {
  using namespace safety_source_activate;
  return {
      .id = "safety/source-activate",
      .severity = diag::Severity::note,
      .title = "source activate",
      .why = "source activate finds conda's script only when its bin directory is on PATH, knows no stacked "
             "environments, and has been replaced by conda activate since conda 4.4.",
      .link = "https://docs.conda.io/projects/conda/en/latest/dev-guide/deep-dives/activation.html",
      .bad = {R"(#!/bin/bash
source activate x
)"},
      .good = {R"(#!/bin/bash
source venv/bin/activate
)"},
      .find = find,
  };
}

} // namespace hpcml::check
