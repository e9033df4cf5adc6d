// SPDX-License-Identifier: MIT
// Commands of a login session in a job.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace safety_interactive {

/// A command that asks a question, or that users run before they submit.
struct Question {
  std::string_view program;
  std::string_view argument; ///< one that it has; empty: any
  std::string_view answered; ///< an option that answers; empty: none
  std::string_view what;     ///< what is wrong
  std::string_view hint;
};
constexpr std::string_view k_terminal = "asks for input, and a job has no terminal";
constexpr std::string_view k_submit_first = "run it before sbatch";
constexpr std::string_view k_detached = "runs its program apart from the script, which does not wait for it";
constexpr std::string_view k_no_detaching =
    "start the program itself: the job does not depend on your session";
constexpr std::array<Question, 11> k_questions = {{
    {"git", "pull", "", "changes the program of all jobs that wait or run in this directory", k_submit_first},
    {"ssh-add", "", "-l", "cannot ask for the passphrase of a key: a job has no terminal",
     "use a key without a passphrase for the job, or run it before sbatch"},
    {"read", "-p", "-t", k_terminal, "use a variable, and set it with sbatch --export"},
    {"huggingface-cli", "login", "--token", k_terminal, "run it before sbatch, or set HF_TOKEN"},
    {"vim", "", "", "is an editor, and a job has no terminal", k_submit_first},
    {"nano", "", "", "is an editor, and a job has no terminal", k_submit_first},
    {"newgrp", "", "", "starts a shell that reads its commands from a terminal", "use sg GROUP -c 'COMMAND'"},
    {"screen", "", "", k_detached, k_no_detaching},
    {"su", "", "", "asks for a password, and a job has no terminal", "run the job as the user who needs it"},
    {"tmux", "", "", k_detached, k_no_detaching},
    {"htop", "", "", "needs a terminal, which a job does not have", "use top -b -n 1"},
}};

bool asks(const shell::Command& command, std::string_view program, const Question& question) {
  if (program != question.program) return false;
  const auto words = command.arguments();
  return (question.argument.empty() || has_word(words, question.argument)) &&
         (question.answered.empty() ||
          std::none_of(words.begin(), words.end(), [&](const shell::Argument& word) {
            return word.text().starts_with(question.answered);
          }));
}

/// True if the command gets its input from something else than the terminal.
bool has_input(const shell::Command& command) {
  return command.context.pipeline ||
         std::any_of(command.redirects.begin(), command.redirects.end(),
                     [](const auto& redirect) { return redirect.op.starts_with('<'); });
}

/// An option with which a shell reads its commands from a terminal.
bool is_login_option(const shell::Argument& word) {
  const auto text = word.text();
  return text == "-" || text == "-i" || text == "-il" || text == "-l" || text == "-li" || text == "--login";
}

/// True if the command is a shell without a script: bash, zsh -l, apptainer shell IMAGE.
bool is_bare_shell(const shell::Command& command) {
  const auto name = program_name(command);
  const auto words = command.arguments();
  if (name == "bash" || name == "zsh" || name == "tcsh")
    return std::all_of(words.begin(), words.end(), is_login_option);
  return (name == "singularity" || name == "apptainer") && !words.empty() && words[0].text() == "shell";
}

/// Reports a shell that waits for commands which no user enters.
void find_bare_shells(const LintContext& subject, RuleMatches& hits) {
  for (const auto& command : subject.listing.commands) {
    const auto& context = command.context;
    if (command.parent || context.uncalled || context.unreached || context.condition ||
        context.substitution || !command.prefixes.empty() || !is_bare_shell(command) || has_input(command))
      continue;
    hits.add({command.place,
              fmt::format("{} reads its commands from standard input, which is empty in a job: it exits at "
                          "once and changes nothing",
                          subject.text.substr(command.place.offset, command.place.length)),
              "remove it, or use the commands themselves: source FILE, singularity exec IMAGE PROGRAM"});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.header.directives.empty()) return hits;
  find_bare_shells(subject, hits);
  for (const auto& command : subject.listing.commands) {
    const auto& context = command.context;
    if (!command.program || command.parent || context.uncalled || context.unreached) continue;
    const auto program = program_name(command);
    const auto* found = std::find_if(k_questions.begin(), k_questions.end(), [&](const Question& question) {
      return asks(command, program, question);
    });
    if (found == k_questions.end() || has_input(command) ||
        subject.text.find("ASKPASS") != std::string_view::npos)
      continue;
    const auto& question = *found;
    if (question.what == k_detached && context.substitution) continue; // tmux show-environment
    if (question.program == "git" && !first_work(subject)) continue;
    hits.add({command.place,
              fmt::format("{}{}{} {}", question.program, question.argument.empty() ? "" : " ",
                          question.argument, question.what),
              std::string(question.hint)});
  }
  return hits;
}

} // namespace safety_interactive

Rule rule_safety_interactive() {
  using namespace safety_interactive;
  return {
      .id = "safety/interactive",
      .severity = diag::Severity::note,
      .title = "Command of a login session",
      .why =
          "A batch job has no terminal: a command that asks for a password or an answer fails or waits. git "
          "pull in a job changes the program of jobs that were submitted before, and the nodes may have "
          "no internet access.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
git pull
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
git rev-parse HEAD
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
