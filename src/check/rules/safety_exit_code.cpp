// SPDX-License-Identifier: MIT
// A last command that hides whether the step failed.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

#include "check/launch_facts.hpp"
#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_exit_code {

/// Commands that succeed whatever was before them.
constexpr std::array<std::string_view, 14> k_always_well = {
    "date", "deactivate", "echo", "free",  "hostname", "nvidia-smi", "printf",
    "pwd",  "sacct",      "seff", "sleep", "squeue",   "true",       "uname"};

/// True if the command only reports, or leaves an environment.
bool succeeds_always(const shell::Command& command, std::string_view name) {
  const auto words = command.arguments();
  if (words.empty()) return util::contains(k_always_well, name);
  const auto first = words[0].text();
  return util::contains(k_always_well, name) || (name == "scontrol" && first == "show") ||
         (name == "conda" && first == "deactivate") || (name == "exit" && first == "0") ||
         (name == "module" && (first == "purge" || first == "unload" || first == "list"));
}

/// Whether the words up to the place only print: `echo "exit code: $?"`.
bool is_printed(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  const auto before = text.substr(line.offset, at - line.offset);
  const auto command = util::trim(before.substr(before.find_last_of(";&|") + 1));
  return command.starts_with("echo ") || command.starts_with("printf ");
}

/// True if the line tests the code at the place or keeps it. Other commands that get it may do anything.
bool is_only_tested(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  const auto whole = util::trim(text.substr(line.offset, line.length));
  for (const std::string_view head : {"if ", "elif ", "[ ", "[[ ", "((", "test ", "while ", "until "})
    if (whole.starts_with(head)) return true;
  const auto name = whole.substr(0, whole.find('='));
  return whole.find_first_of(" ;&|") == std::string_view::npos && util::is_variable_name(name);
}

/// What a script does with exit codes, but for those of its lists.
enum class CodeUse : std::uint8_t { none, tested, handed_on };

/// What is done with the exit code at the place, or with the variable that it is put in.
CodeUse use_of_code(std::string_view text, std::size_t at) {
  if (is_printed(text, at)) return CodeUse::none;
  if (at == 0 || text[at - 1] != '=') return is_only_tested(text, at) ? CodeUse::tested : CodeUse::handed_on;
  auto begin = at - 1;
  while (begin > 0 && util::is_name_char(text[begin - 1])) --begin;
  const auto name = std::string(text.substr(begin, at - 1 - begin));
  if (name.empty()) return CodeUse::handed_on;
  auto use = CodeUse::none;
  for (const auto& read : {"$" + name, "${" + name})
    for (auto found = text.find(read); found != std::string_view::npos; found = text.find(read, found + 1))
      if (!is_printed(text, found))
        use = std::max(use, is_only_tested(text, found) ? CodeUse::tested : CodeUse::handed_on);
  return use;
}

CodeUse use_of_codes(std::string_view text) {
  auto use = CodeUse::none;
  for (auto at = text.find("$?"); at != std::string_view::npos && use != CodeUse::handed_on;
       at = text.find("$?", at + 2))
    use = std::max(use, use_of_code(text, at));
  return use;
}

/// True if a command from the place on, or one of a function, may end the script with a code, or the job.
bool may_leave(const LintContext& subject, std::size_t from) {
  static constexpr std::array<std::string_view, 7> k_leaving = {"exec",   "exit",    "false",   "kill",
                                                                "return", "scancel", "scontrol"};
  return std::any_of(subject.listing.commands.begin(), subject.listing.commands.end(),
                     [&](const shell::Command& command) {
                       const auto& context = command.context;
                       if (command.place.offset < from && !context.loop && context.function.empty())
                         return false;
                       const auto name = program_name(command);
                       if (!util::contains(k_leaving, name)) return false;
                       const auto words = command.arguments();
                       return name != "exit" || words.empty() || words[0].text() != "0";
                     });
}

/// The rest of the line from the byte on, with those that it is continued on, without a comment.
std::string_view rest_of_line(std::string_view text, std::size_t at) {
  auto end = std::min(text.find('\n', at), text.size());
  while (end < text.size() && end > at && text[end - 1] == '\\')
    end = std::min(text.find('\n', end + 1), text.size());
  const auto rest = text.substr(at, end - at);
  return rest.substr(0, rest.find(" #"));
}

bool has_list_operator(std::string_view text) {
  return text.find("||") != std::string_view::npos || text.find("&&") != std::string_view::npos;
}

/// True if what follows the command, or the command in whose text it is, decides by its exit code.
bool begins_list(const LintContext& subject, const shell::Command& command) {
  const auto* outer = &command;
  while (outer->parent) outer = &subject.listing.commands[*outer->parent];
  const auto end = outer->place.offset + outer->place.length;
  return end <= subject.text.size() && has_list_operator(rest_of_line(subject.text, end));
}

/// True if the line decides by the exit code of a group, a loop or a function's body: "} || exit 1".
bool ends_group_in_list(std::string_view line) {
  for (const std::string_view end : {"}", ")", "done", "fi", "esac"})
    if (line.starts_with(end) && (line.size() == end.size() || !util::is_name_char(line[end.size()])))
      return has_list_operator(line);
  return false;
}

/// Whether a list follows a group, or one after the work exits or returns.
bool has_list_after(std::string_view text, std::size_t first_work) {
  for (std::size_t at = 0; at < text.size(); at = next_line(text, at)) {
    const auto line = util::trim(rest_of_line(text, at));
    if (line.starts_with('#')) continue;
    if (ends_group_in_list(line)) return true;
    if (at > first_work && has_list_operator(line) &&
        (line.find("exit") != std::string_view::npos || line.find("return") != std::string_view::npos))
      return true;
  }
  return false;
}

/// True if a list with && or || may look at how the job's work ended: one that begins with it, with a
/// function or with `wait`; one after a group; or one after the work that leaves the script.
template <typename IsWork> bool lists_look_at_work(const LintContext& subject, const IsWork& is_work) {
  if (!has_list_operator(subject.text)) return false;
  std::size_t first_work = subject.text.size();
  for (const auto& launch : subject.launches)
    if (is_work(launch)) {
      if (begins_list(subject, *launch.command)) return true;
      first_work = std::min(first_work, launch.command->place.offset);
    }
  for (const auto& command : subject.listing.commands)
    if ((command.calls_function || command.name() == "wait") && begins_list(subject, command)) return true;
  return has_list_after(subject.text, first_work);
}

/// Whether the script does anything about exit codes of commands from the place on, but for those of its
/// lists.
bool looks_at_codes(const LintContext& subject, std::size_t from) {
  const auto text = subject.text;
  const auto use = use_of_codes(text);
  if (use == CodeUse::handed_on || (use == CodeUse::tested && may_leave(subject, from))) return true;
  for (const std::string_view sign : {"PIPESTATUS", "errexit", "trap "})
    if (text.find(sign) != std::string_view::npos) return true;
  if (shebang_line(text).find(" -e") != std::string_view::npos ||
      shebang_line(text).find("sh") == std::string_view::npos)
    return true;
  return std::any_of(
      subject.listing.commands.begin(), subject.listing.commands.end(), [](const shell::Command& command) {
        if (command.name() != "set") return false;
        const auto words = command.arguments();
        return std::any_of(words.begin(), words.end(), [](const shell::Argument& word) {
          const auto option = word.text();
          return !word.known() ||
                 (option.size() > 1 && option[0] == '-' && option.find('e') != std::string::npos);
        });
      });
}

/// Commands that may follow a training and succeed without it: they put its results away.
constexpr std::array<std::string_view, 6> k_putting_away = {"cp", "kill", "mv", "rsync", "tar", "touch"};

/// True if the command puts away what a training left, or removes it: `rm -rf`, which has no error for what
/// does not exist.
bool puts_away(const shell::Command& command, std::string_view name) {
  if (name != "rm") return util::contains(k_putting_away, name);
  const auto words = command.arguments();
  return std::any_of(words.begin(), words.end(), [](const shell::Argument& word) {
    const auto option = word.text();
    return option == "--force" || (option.size() > 1 && option[0] == '-' && option[1] != '-' &&
                                   option.find('f') != std::string::npos);
  });
}

/// The last command of the script itself; nothing if it has none.
const shell::Command* last_listed(const LintContext& subject) {
  const shell::Command* last = nullptr;
  for (const auto& command : subject.listing.commands)
    if (!command.parent && !command.context.uncalled && !command.context.unreached &&
        !command.context.substitution && !command.context.trap)
      last = &command;
  return last;
}

/// True if the script's last line, comments aside, ends a condition.
bool ends_in_condition(std::string_view text) {
  auto rest = util::trim(text);
  for (auto line = line_at(rest, rest.size()); line.offset > 0 && rest.substr(line.offset).starts_with('#');
       line = line_at(rest, rest.size()))
    rest = util::trim(rest.substr(0, line.offset));
  return rest.ends_with("\nfi");
}

/// True if the function that has the command is what the script calls last, and returns the command's code.
bool ends_last_function(const LintContext& subject, const shell::Command& last) {
  const auto& commands = subject.listing.commands;
  const auto call = std::find_if(commands.rbegin(), commands.rend(), [](const shell::Command& command) {
    return !command.parent && command.context.function.empty() && !command.context.substitution &&
           !command.context.trap && !command.context.unreached;
  });
  return call != commands.rend() && call->calls_function && call->name() == last.context.function &&
         !call->context.condition && !call->context.pipeline && !call->context.background &&
         std::none_of(commands.begin(), commands.end(),
                      [](const shell::Command& command) { return is_program(command, "return"); });
}

/// The command whose exit code is the script's, or 0 if a condition skips it;
/// nothing where that is not visible.
const shell::Command* last_command(const LintContext& subject) {
  const auto* last = last_listed(subject);
  const bool certain = last && last->name() && !last->context.pipeline && !last->context.background &&
                       (!last->context.condition || ends_in_condition(subject.text)) &&
                       (last->context.function.empty() || ends_last_function(subject, *last));
  return certain ? last : nullptr;
}

/// True if the command's exit code decides what runs next: `if python train.py`.
bool is_tested(std::string_view text, std::size_t offset) {
  const auto line = line_at(text, offset);
  const auto before = util::trim(text.substr(line.offset, offset - line.offset));
  const auto word = before.substr(before.find_last_of(" \t;") + 1);
  return word == "if" || word == "elif" || word == "while" || word == "until" || word == "!";
}

/// True if the module is the user's program: "package.train".
bool is_training_module(std::string_view module) {
  const auto name = util::to_lower(module);
  for (const std::string_view sign : {"train", "tune", "main", "run"})
    if (name.find(sign) != std::string::npos) return true;
  return false;
}

/// Whether the program runs in the batch shell, and does the job's work: a step, a launcher or a
/// python script.
bool is_work(const LintContext& subject, const Launch& launch, bool in_loop = false) {
  const auto& context = launch.command->context;
  if (context.substitution) return false;
  // Without pipefail the pipeline itself hides the code, of which safety/pipe-status speaks.
  if (context.pipeline && subject.text.find("pipefail") == std::string_view::npos) return false;
  // Nothing tests what is in the background, whatever decides that it is started.
  if (!context.background &&
      (context.condition != in_loop || is_tested(subject.text, launch.command->place.offset)))
    return false;
  const auto parent = launch.command->parent;
  if (parent && subject.listing.commands[*parent].name() != "eval") return false;
  if (launch.step() || launch.agent()) return true;
  const auto* python = launch.python();
  if (!python) return false;
  if (!python->module.empty()) return is_training_module(python->module);
  return !python->operands.empty() && python->operands[0].text().find(".py") != std::string::npos;
}

/// The name of the program that the launch starts first.
std::string name_of(const Launch& launch) {
  const auto& name = launch.chain.front().program;
  return name == "eval" && launch.chain.size() > 1 ? launch.chain[1].program : name;
}

/// A program of the job's work.
struct Work {
  const shell::Command* command = nullptr;
  std::string name;
};

/// The name of the variable that is all of the command's program: "cmd" of `"${cmd[@]}"` and `eval $cmd`.
std::string_view program_variable(const shell::Command& command) {
  const auto at = is_program(command, "eval") ? *command.program + 1 : 0;
  if (at >= command.words.size() || command.words[at].pieces.empty() || command.words[at].pieces[0].known)
    return {};
  const std::string_view text = command.words[at].pieces[0].text;
  const auto begin = text.find_first_not_of("\"${");
  if (begin == std::string_view::npos || begin == 0) return {};
  auto end = begin;
  while (end < text.size() && util::is_name_char(text[end])) ++end;
  return text.substr(begin, end - begin);
}

/// True if the script puts a python program into the variable: `cmd=(python train.py`.
bool holds_program(std::string_view text, std::string_view name) {
  constexpr std::size_t k_most = 500; // bytes to the program's file
  if (name.empty()) return false;
  for (const std::string_view opening : {"=(", "=\"", "='"}) {
    const auto assignment = "\n" + std::string(name) + std::string(opening);
    const auto at = text.find(assignment);
    if (at == std::string_view::npos) continue;
    const auto value = text.substr(at + assignment.size(), k_most);
    const auto closing = opening == "=(" ? std::string_view("\n)") : opening.substr(1);
    const auto all = value.substr(0, value.find(closing));
    const auto first = all.substr(std::min(all.find_first_not_of(" \t\r\n\\"), all.size()));
    for (const std::string_view program : {"python", "srun ", "torchrun ", "accelerate ", "deepspeed "})
      if (first.starts_with(program) && all.find(".py") != std::string_view::npos) return true;
  }
  return false;
}

/// The last command that is the job's work by a variable whose value is not known.
std::optional<Work> last_work_in_variable(const LintContext& subject) {
  const auto& commands = subject.listing.commands;
  for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
    const auto& context = command->context;
    if (command->parent || context.substitution || context.pipeline || context.background ||
        context.condition || context.uncalled || context.unreached ||
        (command->program && !is_program(*command, "eval")))
      continue;
    const auto name = program_variable(*command);
    if (holds_program(subject.text, name)) return Work{&*command, fmt::format("the program in {}", name)};
  }
  return std::nullopt;
}

/// The last program of the job's work that is, or is not, in the background.
std::optional<Work> last_work(const LintContext& subject, bool background) {
  for (auto launch = subject.launches.rbegin(); launch != subject.launches.rend(); ++launch)
    if (launch->command->context.background == background && is_work(subject, *launch))
      return Work{launch->command, name_of(*launch)};
  return background ? std::nullopt : last_work_in_variable(subject);
}

/// Reports `wait` without a process, which succeeds whatever the processes returned.
RuleMatches find_wait(const LintContext& subject, const shell::Command& wait) {
  if (!wait.arguments().empty()) return {};
  const auto work = last_work(subject, true);
  if (!work) return {};
  return {{wait.place,
           fmt::format("the job is COMPLETED even if {} fails: wait without a process returns 0", work->name),
           "set a variable to $! after each start, use wait with each of them, and exit with the code",
           {},
           diag::Severity::note}};
}

/// The only kind of `wait` that the script itself has, where it has no process; nothing else.
const shell::Command* find_bare_wait(const LintContext& subject) {
  const shell::Command* found = nullptr;
  for (const auto& command : subject.listing.commands) {
    if (!is_program(command, "wait") || command.parent || command.context.uncalled) continue;
    if (!command.arguments().empty() || command.context.condition) return nullptr;
    found = &command;
  }
  return found;
}

/// Reports a script that starts the same program several times, of which only the last one counts.
RuleMatches find_repeated(const LintContext& subject, const shell::Command& last) {
  const auto is_same = [](const Launch& a, const Launch& b) {
    if (!a.python() || !b.python() || a.python()->module != b.python()->module) return false;
    return !a.python()->module.empty() || a.python()->operands[0].text() == b.python()->operands[0].text();
  };
  std::vector<const Launch*> works;
  for (const auto& launch : subject.launches)
    if (!launch.command->context.background && !launch.command->context.unreached && launch.python() &&
        is_work(subject, launch) && !launch.python()->operands.empty())
      works.push_back(&launch);
  if (works.size() < 2 || works.back()->command != &last ||
      std::count_if(works.begin(), works.end(),
                    [&](const auto* work) { return is_same(*work, *works.back()); }) < 2)
    return {};
  return {{last.place,
           fmt::format("the job is COMPLETED even if {} fails: only the last command counts",
                       works.size() == 2 ? std::string("the program above")
                                         : fmt::format("one of the {} programs above", works.size() - 1)),
           "add set -e above, or exit with the first code that is not 0",
           {},
           diag::Severity::note}};
}

/// True if a program, other than a tool, runs after the work: its code may be the script's.
bool has_work_after(const LintContext& subject, const shell::Command& work) {
  return std::any_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
    return launch.command > &work && !launch.command->parent && !is_utility(launch);
  });
}

/// Reports a last command that succeeds whatever the programs before it returned.
RuleMatches find_hidden(const LintContext& subject, const shell::Command& last) {
  const auto name = *last.name();
  if (name == "wait") return find_wait(subject, last);
  const bool keeps_results = puts_away(last, name);
  if (!keeps_results && !succeeds_always(last, name)) return find_repeated(subject, last);
  const auto work = last_work(subject, false);
  if (!work || (last.context.condition && has_work_after(subject, *work->command))) {
    const auto* wait = work ? nullptr : find_bare_wait(subject);
    return wait ? find_wait(subject, *wait) : RuleMatches();
  }
  return {{last.place,
           fmt::format("the job is COMPLETED even if {} fails: only the last command counts", work->name),
           "add set -e above, or end with exit $code and set code=$? directly after the step",
           {},
           keeps_results ? std::optional(diag::Severity::note) : std::nullopt}};
}

/// True if the loop around the place has one word to go through: "for trial in 3".
bool is_single_run(std::string_view text, std::size_t at) {
  const auto begin = text.rfind("for ", at);
  if (begin == std::string_view::npos) return false;
  const auto head = text.substr(begin, text.find_first_of(";\n", begin) - begin);
  const auto in = head.find(" in ");
  return in != std::string_view::npos &&
         util::trim(head.substr(in + 4)).find_first_of(" $`{*") == std::string_view::npos;
}

/// Reports a loop at the end of the script whose runs are not tested: only the last one counts.
RuleMatches find_loop(const LintContext& subject) {
  const auto* last = last_listed(subject);
  if (!last || !last->context.loop) return {};
  const auto launch =
      std::find_if(subject.launches.rbegin(), subject.launches.rend(), [&](const Launch& candidate) {
        const auto& context = candidate.command->context;
        return context.loop && !context.background && context.function.empty() &&
               is_work(subject, candidate, true);
      });
  if (launch == subject.launches.rend() || is_single_run(subject.text, launch->command->place.offset))
    return {};
  return {{launch->command->place,
           fmt::format("the job is COMPLETED even if {} fails in one run of the loop: only the last command "
                       "counts",
                       name_of(*launch)),
           "add || failed=1 after it and exit ${failed:-0} after the loop, or use set -e",
           {},
           diag::Severity::note}};
}

/// Where the first program of the job's work is; 0 where it is in a variable.
template <typename IsWork> std::size_t first_offset(const LintContext& subject, const IsWork& is_work) {
  const auto first = std::find_if(subject.launches.begin(), subject.launches.end(), is_work);
  return first == subject.launches.end() ? 0 : first->command->place.offset;
}

RuleMatches find(const LintContext& subject) {
  if (!subject.listing.complete || !subject.listing.unread.empty() || subject.listing.commands.empty())
    return {};
  const auto* last = last_command(subject);
  auto hits = last ? find_hidden(subject, *last) : RuleMatches();
  if (hits.empty() && (!last || last->context.condition)) hits = find_loop(subject);
  const auto works = [&](const Launch& launch) {
    return is_work(subject, launch) || is_work(subject, launch, true);
  };
  if (!hits.empty() &&
      (looks_at_codes(subject, first_offset(subject, works)) || lists_look_at_work(subject, works)))
    hits.clear(); // reads all of the text
  return hits;
}

} // namespace safety_exit_code

Rule rule_safety_exit_code() {
  using namespace safety_exit_code;
  return {
      .id = "safety/exit-code",
      .severity = diag::Severity::warning,
      .title = "Failed step reported as success",
      .why = "The job's state is the exit code of the script's last command. With echo after srun a training "
             "that crashed is COMPLETED, and --dependency=afterok starts the next job on nothing.",
      .link = "https://slurm.schedmd.com/job_exit_code.html",
      .bad = {R"(#!/bin/bash
srun python train.py
echo done
)"},
      .good = {R"(#!/bin/bash
set -e
srun python train.py
echo done
)"},
      .find = find,
  };
}

} // namespace hpcml::check
