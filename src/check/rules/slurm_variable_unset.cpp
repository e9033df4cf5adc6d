// SPDX-License-Identifier: MIT
// Variables of Slurm's that this job does not have.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/shell/shell_names.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_variable_unset {

constexpr std::string_view k_array_task = "SLURM_ARRAY_TASK_ID";

/// A variable, the option that brings it, and others by which it may come.
struct Row {
  std::string_view variable;
  std::string_view option;
  std::array<std::string_view, 6> others = {};
};
constexpr std::array<Row, 8> k_rows = {
    {{"SLURM_CPUS_PER_TASK", "cpus-per-task", {"tres-per-task", "cpus-per-gpu"}},
     {"SLURM_NTASKS",
      "ntasks",
      {"ntasks-per-node", "ntasks-per-gpu", "gpus-per-task", "tres-per-task", "ntasks-per-tres",
       "ntasks-per-socket"}},
     {"SLURM_NPROCS",
      "ntasks",
      {"ntasks-per-node", "ntasks-per-gpu", "gpus-per-task", "tres-per-task", "ntasks-per-tres",
       "ntasks-per-socket"}},
     {"SLURM_NTASKS_PER_NODE", "ntasks-per-node", {"ntasks-per-gpu", "gpus-per-task", "tres-per-task"}},
     {k_array_task, "array"},
     {"SLURM_GPUS", "gpus"},
     {"SLURM_GPUS_PER_NODE", "gpus-per-node"},
     {"SLURM_GPUS_PER_TASK", "gpus-per-task"}}};

/// Variables of jobs, steps and arrays whose names are misspelt in scripts.
constexpr std::array<std::string_view, 30> k_names = {
    "SLURM_ARRAY_JOB_ID",   "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MAX", "SLURM_CLUSTER_NAME",     "SLURM_CPUS_ON_NODE",
    "SLURM_CPUS_PER_TASK",  "SLURM_GPUS_ON_NODE",     "SLURM_GPUS_PER_NODE",
    "SLURM_JOBID",          "SLURM_JOB_ACCOUNT",      "SLURM_JOB_CPUS_PER_NODE",
    "SLURM_JOB_GPUS",       "SLURM_JOB_ID",           "SLURM_JOB_NAME",
    "SLURM_JOB_NODELIST",   "SLURM_JOB_NUM_NODES",    "SLURM_JOB_PARTITION",
    "SLURM_LOCALID",        "SLURM_MEM_PER_NODE",     "SLURM_NNODES",
    "SLURM_NODEID",         "SLURM_NODELIST",         "SLURM_NPROCS",
    "SLURM_NTASKS",         "SLURM_NTASKS_PER_NODE",  "SLURM_PROCID",
    "SLURM_RESTART_COUNT",  "SLURM_SUBMIT_DIR",       "SLURM_TASKS_PER_NODE"};
/// Names that are one letter off those above and exist.
constexpr std::array<std::string_view, 4> k_others = {"SLURM_GPUS_PER_TASK", "SLURM_JOB_GID", "SLURM_JOB_UID",
                                                      "SLURM_NODES"};

/// Names that scripts use in place of those of Slurm.
struct MistakenVariable {
  std::string_view name, meant;
};
constexpr std::array<MistakenVariable, 17> k_mistaken = {{
    {"SLURM_CPUS", "SLURM_CPUS_PER_TASK"},
    {"SLURM_JOB_WORKDIR", "SLURM_SUBMIT_DIR"},
    {"SLURM_LOCAL_RANK", "SLURM_LOCALID"},
    {"SLURM_NODENAME", "SLURMD_NODENAME"},
    {"SLURM_NODE_NAME", "SLURMD_NODENAME"},
    {"SLURM_NODE_RANK", "SLURM_NODEID"},
    {"SLURM_NUM_CPUS", "SLURM_CPUS_PER_TASK"},
    {"SLURM_NUM_NODES", "SLURM_JOB_NUM_NODES"},
    {"SLURM_NUM_TASKS", "SLURM_NTASKS"},
    {"SLURM_O_WORKDIR", "SLURM_SUBMIT_DIR"},
    {"SLURM_RANK", "SLURM_PROCID"},
    {"SLURM_TASK_ID", "SLURM_ARRAY_TASK_ID"},
    {"SLURM_TASKID", "SLURM_ARRAY_TASK_ID"},
    {"SLURM_WORKDIR", "SLURM_SUBMIT_DIR"},
    {"SLURM_WORKING_DIR", "SLURM_SUBMIT_DIR"},
    {"SLURM_WORK_DIR", "SLURM_SUBMIT_DIR"},
    {"SLURM_WORLD_SIZE", "SLURM_NTASKS"},
}};

/// True if one letter added, dropped or replaced makes one text of the other.
bool is_one_letter_off(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  const auto difference = std::mismatch(a.begin(), a.end(), b.begin());
  const auto same = static_cast<std::size_t>(difference.first - a.begin());
  if (a.size() == b.size()) return same < a.size() && a.substr(same + 1) == b.substr(same + 1);
  return a.substr(same) == b.substr(same + 1);
}

/// The variable whose name is meant by one that no Slurm sets; empty if the name may be right.
std::string_view meant_name(std::string_view name) {
  if (util::contains(k_names, name) || util::contains(k_others, name)) return {};
  for (const auto& mistaken : k_mistaken)
    if (mistaken.name == name) return mistaken.meant;
  const auto found = std::find_if(k_names.begin(), k_names.end(),
                                  [&](auto known) { return is_one_letter_off(name, known); });
  return found == k_names.end() ? std::string_view() : *found;
}

/// The text up to an `exit` that is alone at the start of a line, after which notes may be.
std::string_view before_exit(std::string_view text) {
  for (const std::string_view line : {"\nexit\n", "\nexit 0\n"})
    if (const auto at = text.find(line); at != std::string_view::npos) text = text.substr(0, at + 1);
  return text;
}

struct Use {
  std::size_t at = 0; ///< of the '$', or of what is in front of the name
  std::string_view name;
  bool guarded = false; ///< a default or a test is with it
  bool needed = false;  ///< the script exits where it is empty
};

/// True if the script exits in the branch of the test on the line: within a few lines, before `else` or `fi`.
bool exits_in_branch(std::string_view text, std::size_t at) {
  auto line = line_at(text, at);
  const bool branch = util::trim(text.substr(line.offset, line.length)).starts_with("if ");
  for (int left = branch ? 10 : 1; left > 0; --left) {
    const auto words = " " + std::string(util::trim(text.substr(line.offset, line.length))) + " ";
    if (words.starts_with(" fi") || words.starts_with(" el")) return false;
    if (words.find(" exit ") != std::string::npos) return true;
    line = line_at(text, next_line(text, line.offset));
  }
  return false;
}

/// Adds the names that an arithmetic text reads without a '$': "$((SLURM_NNODES * 4))".
void add_arithmetic_uses(std::string_view text, std::size_t dollar, std::vector<Use>& uses) {
  if (text.substr(dollar, 3) != "$((" || is_in_comment(text, dollar)) return;
  constexpr std::size_t k_longest = 256; // a line may have any number of them
  const auto rest = text.substr(dollar, k_longest);
  const auto inner = rest.substr(0, std::min(rest.find("))"), rest.find('\n')));
  for (auto at = inner.find("SLURM_"); at != std::string_view::npos; at = inner.find("SLURM_", at + 1)) {
    const char before = inner[at - 1];
    if (before == '$' || before == '{' || shell::is_name_char(before)) continue;
    auto end = at;
    while (end < inner.size() && shell::is_name_char(inner[end])) ++end;
    uses.push_back({dollar + at - 1, inner.substr(at, end - at)});
  }
}

/// "$SLURM_X" and "${SLURM_X…}" outside of comments.
std::vector<Use> find_uses(std::string_view text, std::size_t from) {
  std::vector<Use> uses;
  for (auto dollar = text.find('$', from); dollar != std::string_view::npos;
       dollar = text.find('$', dollar + 1)) {
    const bool braced = text.substr(dollar + 1, 1) == "{";
    const auto begin = dollar + (braced ? 2 : 1);
    add_arithmetic_uses(text, dollar, uses);
    if (text.substr(begin, 6) != "SLURM_") continue;
    auto end = begin;
    while (end < text.size() && shell::is_name_char(text[end])) ++end;
    if (is_in_comment(text, dollar)) continue;
    const auto before = line_before(text, dollar);
    const bool tested = before.find("-z ") != std::string_view::npos ||
                        before.find("-n \"") != std::string_view::npos ||
                        before.find("-v ") != std::string_view::npos;
    uses.push_back({dollar, text.substr(begin, end - begin), tested || (braced && text.substr(end, 1) != "}"),
                    before.find("-z ") != std::string_view::npos && exits_in_branch(text, dollar)});
  }
  return uses;
}

/// Whether a directive names the option, also with a value that sbatch refuses: that is another fault.
bool stands_in_header(const LintContext& subject, std::string_view option) {
  const auto is_it = [&](const auto& word) {
    const std::string_view text = word.text;
    if (text.size() < 2 || text[0] != '-') return false;
    if (text[1] == '-') return text.substr(2, text.find('=') - 2) == option;
    const auto known = slurm::find_option(slurm::Program::sbatch, text[1], subject.version);
    return known && known->name == option;
  };
  return std::any_of(subject.header.directives.begin(), subject.header.directives.end(),
                     [&](const auto& directive) {
                       return std::any_of(directive.words.begin(), directive.words.end(), is_it);
                     });
}

bool is_given(const LintContext& subject, std::string_view option) {
  if (option.empty()) return false;
  if (subject.requests[0].has(option) || stands_in_header(subject, option)) return true;
  return std::any_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
    return launch.find("srun") && (launch.find("srun")->find(option) || !launch.find("srun")->complete);
  });
}

/// Whether the line only prints: what does not exist shows as nothing.
bool only_prints(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  const auto whole = util::trim(text.substr(line.offset, line.length));
  return (whole.starts_with("echo ") || whole.starts_with("printf ")) &&
         whole.find('>') == std::string_view::npos && whole.find("$(") == std::string_view::npos;
}

/// Why the job does not have the variable; empty where it has, or may.
std::string reason(const LintContext& subject, const Row& row) {
  const bool lost = row.variable == "SLURM_GPUS_PER_TASK" && subject.may_be("23.11-");
  if (lost) return fmt::format("{} is not set in Slurm 23.11 and later", row.variable);
  const auto is_set = [&](std::string_view option) { return is_given(subject, option); };
  if (is_set(row.option) || std::any_of(row.others.begin(), row.others.end(), is_set)) return {};
  if (row.variable == k_array_task)
    return fmt::format("{} is not set unless the command line of sbatch has --array", row.variable);
  return fmt::format("{} is not set: the job has no --{}", row.variable, row.option);
}

/// Whether a comment says that the option comes from elsewhere: the command that submits the script, or a
/// program that passes its options.
bool is_set_elsewhere(const LintContext& subject, std::string_view option) {
  static constexpr std::array<std::string_view, 9> k_signs = {
      "command line", "command-line",   "passed by", "passed from", "passed to sbatch",
      "submitted by", "submitted with", "overrid",   "set by the"};
  for (std::size_t at = 0; at < subject.text.size();) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    const auto line = subject.text.substr(at, end - at);
    at = end + 1;
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] != '#' || line.substr(first, 2) == "#!" ||
        line.substr(first, 7) == "#SBATCH")
      continue;
    const auto text = util::to_lower(line);
    if (std::any_of(k_signs.begin(), k_signs.end(),
                    [&](auto sign) { return text.find(sign) != std::string::npos; }))
      return true;
    const auto command = text.find("sbatch ");
    if (command == std::string::npos) continue;
    const std::string letter = option == "ntasks" ? " -n" : option == "cpus-per-task" ? " -c" : "--";
    if (text.find("--" + std::string(option), command) != std::string::npos ||
        (letter != "--" && text.find(letter, command) != std::string::npos))
      return true;
  }
  return false;
}

/// Reports variables whose names are one letter off those of Slurm, unless the script sets them itself.
void find_misspelt(const LintContext& subject, RuleMatches& hits) {
  if (!is_shell_script(subject.text) || subject.text.find("SLURM_") == std::string_view::npos) return;
  for (const auto& use : find_uses(before_exit(subject.text), subject.header.end)) {
    const auto meant = meant_name(use.name);
    if (meant.empty() || use.guarded ||
        subject.text.find(std::string(use.name) + "=") != std::string_view::npos)
      continue;
    const auto begin = use.at + (subject.text[use.at + 1] == '{' ? 2 : 1);
    hits.add({{begin, use.name.size()},
              fmt::format("Slurm sets no variable {}", use.name),
              fmt::format("use {}", meant),
              is_one_letter_off(use.name, meant)
                  ? std::vector<Edit>{{begin, use.name.size(), std::string(meant)}}
                  : std::vector<Edit>(),
              only_prints(subject.text, use.at) ? std::optional(diag::Severity::note) : std::nullopt});
  }
}

/// True if a line of the text is a directive: the script writes another one.
bool has_directive(std::string_view text) {
  for (auto at = text.find("#SBATCH"); at != std::string_view::npos; at = text.find("#SBATCH", at + 1))
    if (at == 0 || text[at - 1] == '\n') return true;
  return false;
}

/// True if something takes care of a variable that is empty. A test for GPUs which the job does request,
/// after which the script exits, does not: the job never runs.
bool is_guarded(const LintContext& subject, const Use& use) {
  const auto& request = subject.requests[0];
  const bool has_gpus = request.has("gpus-per-node") || request.text("gres").find("gpu") != std::string::npos;
  return use.guarded && !(use.needed && has_gpus && use.name.starts_with("SLURM_GPUS"));
}

/// True if the script knows that its option may be on the command line: it says that it is for an array.
bool speaks_of_array(std::string_view text) {
  const auto small = util::to_lower(text);
  for (const std::string_view sign :
       {"--array", "sbatch -a", "array id", "array job", "job array", "job_array", "-v slurm_array"})
    if (small.find(sign) != std::string::npos) return true;
  return false;
}

/// True if an empty text does no harm there: it is printed, or the job's number is on the same line.
bool is_harmless(const LintContext& subject, const Use& use) {
  if (only_prints(subject.text, use.at)) return true;
  const auto line = line_at(subject.text, use.at);
  const auto words = subject.text.substr(line.offset, line.length);
  return use.name == k_array_task &&
         (words.find("_JOB_ID") != std::string_view::npos || words.find("_JOBID") != std::string_view::npos);
}

/// The reading of the variable: "${NAME}" as far as the name, "$NAME", or the name alone.
diag::TextRange place_of(const LintContext& subject, const Use& use) {
  if (subject.text[use.at] != '$') return {use.at + 1, use.name.size()};
  return {use.at, use.name.size() + (subject.text[use.at + 1] == '{' ? 3 : 1)};
}

/// Reports the first use of the row's variable, if the job does not have it.
void find_unset(const LintContext& subject, const Row& row, const std::vector<Use>& uses, RuleMatches& hits) {
  const bool array = row.variable == k_array_task;
  const auto is_it = [&](const Use& use) { return use.name == row.variable; };
  const auto used = std::find_if(uses.begin(), uses.end(), [&](const Use& candidate) {
    return is_it(candidate) && !is_harmless(subject, candidate);
  });
  const auto use = used != uses.end() || array ? used : std::find_if(uses.begin(), uses.end(), is_it);
  if (use == uses.end() || std::any_of(uses.begin(), uses.end(), [&](const Use& candidate) {
        return is_it(candidate) && is_guarded(subject, candidate);
      }))
    return;
  const auto why = reason(subject, row);
  if (why.empty() || is_set_elsewhere(subject, row.option) || (array && speaks_of_array(subject.text)))
    return;
  hits.push_back({place_of(subject, *use),
                  why,
                  row.variable == "SLURM_GPUS_PER_TASK"
                      ? "use the number"
                      : "add the option, or use ${" + std::string(row.variable) + ":-NUMBER}",
                  {},
                  used == uses.end() || array ? std::optional(diag::Severity::note) : std::nullopt});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_misspelt(subject, hits);
  // Without directives the options come from elsewhere; a script that submits others speaks of their
  // variables.
  if (subject.requests.size() != 1 || subject.header.directives.empty() || !is_shell_script(subject.text) ||
      subject.text.find("SLURM_") == std::string_view::npos)
    return hits;
  const auto text = before_exit(subject.text);
  const auto body = text.substr(std::min(subject.header.end, text.size()));
  if (has_directive(body) || body.find("SLURM_") == std::string_view::npos) return hits;
  const auto uses = find_uses(text, subject.header.end);
  for (const auto& row : k_rows)
    if (body.find(std::string(row.variable) + "=") == std::string_view::npos)
      find_unset(subject, row, uses, hits);
  return hits;
}

} // namespace slurm_variable_unset

Rule rule_slurm_variable_unset() {
  using namespace slurm_variable_unset;
  return {
      .id = "slurm/variable-unset",
      .severity = diag::Severity::warning,
      .title = "Variable that Slurm does not set",
      .why =
          "SLURM_CPUS_PER_TASK, SLURM_NTASKS, SLURM_GPUS_PER_NODE and the like exist only where the option "
          "of that name was given "
          "(--gres=gpu sets none of them), SLURM_ARRAY_TASK_ID only in an array, and SLURM_GPUS_PER_TASK is "
          "gone "
          "from 23.11. A misspelt name, SLURM_ARRAY_TASKID, exists nowhere. Empty, they turn into "
          "--nproc_per_node= or "
          "OMP_NUM_THREADS=, and set -u stops the script.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun ./a
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 -c4
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
srun ./a
)"},
      .find = find,
  };
}

} // namespace hpcml::check
