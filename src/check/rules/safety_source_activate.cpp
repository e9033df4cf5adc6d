// SPDX-License-Identifier: MIT
// The old way to activate a conda environment.
#include <algorithm>
#include <array>

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
  if (std::none_of(commands.begin(), commands.end(), is_source_of_activate)) return hits;
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
