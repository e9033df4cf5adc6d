// SPDX-License-Identifier: MIT
// A last command that hides whether the step failed.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
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
         (name == "conda" && first == "deactivate");
}

/// Whether the words up to the place only print: `echo "exit code: $?"`.
bool is_printed(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  const auto before = text.substr(line.offset, at - line.offset);
  const auto command = util::trim(before.substr(before.find_last_of(";&|") + 1));
  return command.starts_with("echo ") || command.starts_with("printf ");
}

/// Whether the script uses an exit code for anything but printing it, also by a variable that it is put in.
bool uses_codes(std::string_view text) {
  for (auto at = text.find("$?"); at != std::string_view::npos; at = text.find("$?", at + 2)) {
    if (is_printed(text, at)) continue;
    if (at == 0 || text[at - 1] != '=') return true;
    auto begin = at - 1;
    while (begin > 0 && util::is_name_char(text[begin - 1])) --begin;
    const auto name = std::string(text.substr(begin, at - 1 - begin));
    if (name.empty()) return true;
    for (const auto& use : {"$" + name, "${" + name})
      for (auto found = text.find(use); found != std::string_view::npos; found = text.find(use, found + 1))
        if (!is_printed(text, found)) return true;
  }
  return false;
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

/// Whether the script does anything about exit codes, but for those of its lists.
bool looks_at_codes(const LintContext& subject) {
  const auto text = subject.text;
  if (uses_codes(text)) return true;
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
constexpr std::array<std::string_view, 4> k_putting_away = {"cp", "mv", "rsync", "tar"};

/// The last command of the script itself; nothing if it has none.
const shell::Command* last_listed(const LintContext& subject) {
  const shell::Command* last = nullptr;
  for (const auto& command : subject.listing.commands)
    if (!command.parent && !command.context.uncalled && !command.context.unreached &&
        !command.context.substitution && !command.context.trap)
      last = &command;
  return last;
}

/// The command whose exit code is the script's; nothing where that is not visible.
const shell::Command* last_command(const LintContext& subject) {
  const auto* last = last_listed(subject);
  const bool certain = last && last->name() && !last->context.condition && !last->context.pipeline &&
                       !last->context.background && last->context.function.empty();
  return certain ? last : nullptr;
}

/// True if the command's exit code decides what runs next: `if python train.py`.
bool is_tested(std::string_view text, std::size_t offset) {
  const auto line = line_at(text, offset);
  const auto before = util::trim(text.substr(line.offset, offset - line.offset));
  const auto word = before.substr(before.find_last_of(" \t;") + 1);
  return word == "if" || word == "elif" || word == "while" || word == "until" || word == "!";
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
  return python && python->module.empty() && !python->operands.empty() &&
         python->operands[0].text().find(".py") != std::string::npos;
}

/// The last program of the job's work that is, or is not, in the background.
const Launch* last_work(const LintContext& subject, bool background) {
  for (auto launch = subject.launches.rbegin(); launch != subject.launches.rend(); ++launch)
    if (launch->command->context.background == background && is_work(subject, *launch)) return &*launch;
  return nullptr;
}

/// The name of the program that the launch starts first.
std::string name_of(const Launch& launch) {
  const auto& name = launch.chain.front().program;
  return name == "eval" && launch.chain.size() > 1 ? launch.chain[1].program : name;
}

/// Reports `wait` as the last command: without a process it succeeds, whatever the processes returned.
RuleMatches find_wait(const LintContext& subject, const shell::Command& last) {
  if (!last.arguments().empty()) return {};
  const auto* launch = last_work(subject, true);
  if (!launch) return {};
  return {{last.place,
           fmt::format("the job is COMPLETED even if {} fails: wait without a process returns 0",
                       name_of(*launch)),
           "set a variable to $! after each start, use wait with each of them, and exit with the code",
           {},
           diag::Severity::note}};
}

/// Reports a script that starts the same program several times, of which only the last one counts.
RuleMatches find_repeated(const LintContext& subject, const shell::Command& last) {
  const auto is_same = [](const Launch& a, const Launch& b) {
    return a.python() && b.python() && a.python()->operands[0].text() == b.python()->operands[0].text();
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

/// Reports a last command that succeeds whatever the programs before it returned.
RuleMatches find_hidden(const LintContext& subject, const shell::Command& last) {
  const auto name = *last.name();
  if (name == "wait") return find_wait(subject, last);
  const bool puts_away = util::contains(k_putting_away, std::string_view(name));
  if (!puts_away && !succeeds_always(last, name)) return find_repeated(subject, last);
  const auto* launch = last_work(subject, false);
  if (!launch) return {};
  return {
      {last.place,
       fmt::format("the job is COMPLETED even if {} fails: only the last command counts", name_of(*launch)),
       "add set -e above, or end with exit $code and set code=$? directly after the step",
       {},
       puts_away ? std::optional(diag::Severity::note) : std::nullopt}};
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

RuleMatches find(const LintContext& subject) {
  if (!subject.listing.complete || !subject.listing.unread.empty() || subject.listing.commands.empty())
    return {};
  const auto* last = last_command(subject);
  auto hits = last ? find_hidden(subject, *last) : find_loop(subject);
  const auto works = [&](const Launch& launch) {
    return is_work(subject, launch) || is_work(subject, launch, true);
  };
  if (!hits.empty() && (looks_at_codes(subject) || lists_look_at_work(subject, works)))
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
