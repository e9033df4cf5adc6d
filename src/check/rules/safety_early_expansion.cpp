// SPDX-License-Identifier: MIT
// Job scripts in here-documents: what the shell that writes them expands, and what it does not.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_early_expansion {

constexpr std::array<std::string_view, 22> k_of_job = {
    "SLURM_ARRAY_JOB_ID",   "SLURM_ARRAY_TASK_ID", "SLURM_CPUS_ON_NODE", "SLURM_CPUS_PER_TASK",
    "SLURM_GPUS_ON_NODE",   "SLURM_JOBID",         "SLURM_JOB_GPUS",     "SLURM_JOB_ID",
    "SLURM_JOB_NODELIST",   "SLURM_JOB_NUM_NODES", "SLURM_LOCALID",      "SLURM_NNODES",
    "SLURM_NODEID",         "SLURM_NODELIST",      "SLURM_NTASKS",       "SLURM_NTASKS_PER_NODE",
    "SLURM_PROCID",         "SLURM_RESTART_COUNT", "SLURM_STEP_ID",      "SLURM_SUBMIT_DIR",
    "SLURM_TASKS_PER_NODE", "SLURM_TMPDIR"};

/// The variable of the job that the text reads; empty where it reads none.
std::string_view job_variable(std::string_view text) {
  for (const auto name : k_of_job)
    if (reads(text, name)) return name;
  return {};
}

/// "${NAME:-value}".
bool has_default(std::string_view text) { return text.find(":-") != std::string_view::npos; }

/// A here-document that becomes a job script.
struct JobText {
  const shell::ResolvedRedirect* redirect = nullptr;
  bool quoted = false;   ///< the word after << is in quotes: nothing is expanded
  bool appended = false; ///< to a file with other lines
};

bool is_here_document(const shell::ResolvedRedirect& redirect) {
  return redirect.op == "<<" || redirect.op == "<<-";
}

/// True if the text begins as a script with directives does.
bool is_job_script(const shell::Argument& text) {
  const auto whole = text.text();
  return util::trim(whole).starts_with("#!") && whole.find("\n#SBATCH") != std::string::npos;
}

/// The words of the script's own sbatch commands, among which are the files that it submits.
std::set<std::string> submitted_words(const LintContext& subject) {
  std::set<std::string> words;
  for (const auto& command : subject.listing.commands)
    if (is_program(command, "sbatch"))
      for (const auto& word : command.arguments()) words.insert(word.text());
  return words;
}

/// True if the command hands its input to sbatch: by itself, through a pipe or through a file.
bool feeds_sbatch(const LintContext& subject, const std::set<std::string>& submitted,
                  const shell::Command& command) {
  const auto name = command.name().value_or("");
  if (name == "sbatch") return true;
  if (name != "cat" && name != "tee") return false;
  for (const auto& redirect : command.redirects)
    if (redirect.op.starts_with('>') && submitted.count(redirect.target.text()) > 0) return true;
  const auto words = command.arguments();
  if (std::any_of(words.begin(), words.end(),
                  [&](const auto& word) { return submitted.count(word.text()) > 0; }))
    return true;
  const auto next = subject.text.substr(command.place.offset, command.place.length);
  return command.context.pipeline && next.find("sbatch") != std::string_view::npos;
}

std::vector<JobText> find_job_texts(const LintContext& subject, const std::set<std::string>& submitted) {
  std::vector<JobText> texts;
  for (const auto& command : subject.listing.commands) {
    if (command.parent || command.redirects.empty()) continue;
    const bool appended = std::any_of(command.redirects.begin(), command.redirects.end(),
                                      [](const auto& redirect) { return redirect.op == ">>"; });
    for (const auto& redirect : command.redirects) {
      if (!is_here_document(redirect) ||
          !(feeds_sbatch(subject, submitted, command) || is_job_script(redirect.target)))
        continue;
      const auto word =
          subject.text.substr(std::min(redirect.place.offset, subject.text.size()), redirect.place.length);
      texts.push_back({&redirect, word.find_first_of("'\"\\") != std::string_view::npos, appended});
    }
  }
  return texts;
}

/// True if the script sets the variable itself, outside of texts.
bool is_set_outside(const LintContext& subject, std::string_view name) {
  return std::any_of(subject.listing.settings.begin(), subject.listing.settings.end(),
                     [&](const auto& setting) { return setting->name == name; });
}

/// The name in "$NAME" and "${NAME}"; empty for anything else.
std::string_view plain_name(std::string_view text) {
  if (text.size() < 2 || text[0] != '$') return {};
  text.remove_prefix(1);
  if (text.front() == '{' && text.back() == '}') text = text.substr(1, text.size() - 2);
  return util::is_variable_name(text) ? text : std::string_view();
}

/// True if the text assigns the variable at the beginning of a line, also after `export`, or by `for`.
bool assigns(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto line = line_at(text, at);
    const auto before = util::trim(text.substr(line.offset, at - line.offset));
    const auto after = text.substr(at + name.size());
    if ((after.starts_with("=") && (before.empty() || before == "export" || before == "local")) ||
        (after.starts_with(" in ") && before == "for"))
      return true;
  }
  return false;
}

/// The line of the text that the byte is in begins so.
bool is_directive_line(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  return text.substr(line.offset, line.length).starts_with("#SBATCH");
}

bool is_comment_line(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  return util::trim(text.substr(line.offset, line.length)).starts_with('#');
}

/// True if the submitting script may mean its own value: it sets the variable, or is a job itself.
bool may_be_own(const LintContext& subject, std::string_view name) {
  if (is_set_outside(subject, name)) return true;
  if (subject.header.directives.empty()) return false;
  static constexpr std::array<std::string_view, 4> k_of_task = {"SLURM_ARRAY_TASK_ID", "SLURM_LOCALID",
                                                                "SLURM_NODEID", "SLURM_PROCID"};
  return !util::contains(k_of_task, name) || subject.requests.empty() || subject.requests[0].has("array");
}

/// What is wrong with the piece, which the shell that writes the script expands; empty if it may be right.
/// `before`: the script's lines above.
std::string fault_of(const LintContext& subject, const shell::ArgumentPiece& piece, std::string_view before) {
  static constexpr std::array<std::string_view, 6> k_inherited = {
      "HOME", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "PWD", "USER"};
  if (const auto name = job_variable(piece.text); !name.empty()) {
    const bool deferred = piece.text.find('\\') != std::string::npos; // an argument that stays a variable
    return may_be_own(subject, name) || has_default(piece.text) || deferred
               ? std::string()
               : fmt::format("{} is expanded before the job exists", piece.text);
  }
  const auto name = plain_name(piece.text);
  if (name.empty() || util::contains(k_inherited, name) || is_set_outside(subject, name) ||
      !assigns(before, name))
    return {};
  return fmt::format("{} is expanded when the script is written, before its line that sets it runs",
                     piece.text);
}

void find_expanded(const LintContext& subject, const JobText& job, RuleMatches& hits) {
  std::set<std::string> reported;
  std::string before;
  for (const auto& piece : job.redirect->target.pieces) {
    if (!piece.known && piece.place.offset < subject.text.size() &&
        !is_directive_line(subject.text, piece.place.offset) &&
        !is_comment_line(subject.text, piece.place.offset)) {
      auto fault = fault_of(subject, piece, std::string_view(before).substr(0, before.rfind('\n') + 1));
      if (!fault.empty() && reported.insert(piece.text).second)
        hits.add({piece.place, std::move(fault),
                  "write a backslash before the dollar sign, or put the word after << in single quotes"});
    }
    before += piece.text;
  }
}

/// Reports variables that stay as they are written in the directives of the text.
void find_literal(const LintContext& subject, const JobText& job, RuleMatches& hits) {
  const auto place = job.redirect->target.place;
  const auto text = subject.text;
  const auto end = std::min(place.offset + place.length, text.size());
  for (auto at = text.find("#SBATCH", place.offset); at < end; at = text.find("#SBATCH", at + 1)) {
    const auto line = line_at(text, at);
    if (line.offset != at) continue;
    const auto words = text.substr(line.offset, line.length);
    const auto dollar = words.find(job.quoted ? "$" : "\\$");
    const auto comment = words.find(" #");
    if (dollar == std::string_view::npos || dollar > comment) continue;
    const auto first = line.offset + dollar;
    const auto length = std::min(words.find_first_of(" \t\"'", dollar), words.size()) - dollar;
    hits.add({{first, length},
              fmt::format("nothing is expanded in a directive, so sbatch gets '{}'",
                          words.substr(dollar + (job.quoted ? 0 : 1), length - (job.quoted ? 0 : 1))),
              job.quoted
                  ? "remove the quotes around the word after <<, or use Slurm's patterns (%j, %x)"
                  : "remove the backslash to let this shell expand it, or use Slurm's patterns (%j, %x)"});
  }
}

/// The variables that the script has and does not export: loops' and plain assignments'.
bool is_only_here(const LintContext& subject, std::string_view name) {
  const auto before = subject.text.substr(0, subject.text.find("<<"));
  const auto exported = fmt::format("export {}", name);
  return subject.text.find(exported) == std::string_view::npos &&
         subject.text.find("--export") == std::string_view::npos &&
         subject.text.find("set -a") == std::string_view::npos && assigns(before, name);
}

/// The length of "$NAME" or "${NAME" with what is after the name up to the brace.
std::size_t use_length(std::string_view text, std::size_t dollar) {
  const bool braced = text.substr(dollar + 1, 1) == "{";
  auto end = dollar + (braced ? 2 : 1);
  while (end < text.size() && util::is_name_char(text[end])) ++end;
  return std::min(end + (braced ? 1 : 0), text.size()) - dollar;
}

/// Reports variables of the script in a quoted text: the job does not have them.
void find_unexpanded(const LintContext& subject, const JobText& job, RuleMatches& hits) {
  const auto place = job.redirect->target.place;
  const auto body = subject.text.substr(std::min(place.offset, subject.text.size()), place.length);
  std::set<std::string_view> reported;
  for (auto at = body.find('$'); at != std::string_view::npos; at = body.find('$', at + 1)) {
    const auto use = body.substr(at, use_length(body, at));
    const auto name = plain_name(use);
    if (name.empty() || (at > 0 && body[at - 1] == '\\') || is_comment_line(body, at) ||
        assigns(body, name) || !is_only_here(subject, name) || !reported.insert(name).second)
      continue;
    hits.add({{place.offset + at, use.size()},
              fmt::format("the job has no variable {}: it is not exported, and nothing is expanded after a "
                          "quoted <<",
                          name),
              "export it before sbatch, or remove the quotes around the word after <<"});
  }
}

/// True if the words of the command become a script: those of `sbatch --wrap="…"`, and a text that echo or
/// printf writes into a file that is submitted.
bool writes_script(const std::set<std::string>& submitted, const shell::Command& command) {
  const auto words = command.arguments();
  if (is_program(command, "sbatch"))
    return std::any_of(words.begin(), words.end(),
                       [](const auto& word) { return word.prefix().starts_with("--wrap"); });
  return (is_program(command, "echo") || is_program(command, "printf")) &&
         std::any_of(command.redirects.begin(), command.redirects.end(), [&](const auto& redirect) {
           return redirect.op.starts_with('>') && submitted.count(redirect.target.text()) > 0;
         });
}

/// Reports variables of the job in a word that becomes a script.
void check_word(const LintContext& subject, const shell::Argument& word, RuleMatches& hits) {
  if (word.prefix().starts_with("--dep")) return;
  for (const auto& piece : word.pieces) {
    if (piece.known || job_variable(piece.text).empty()) continue;
    if (auto fault = fault_of(subject, piece, {}); !fault.empty())
      hits.add({piece.place, std::move(fault),
                "put the text in single quotes, or a backslash before the dollar sign"});
  }
}

void find_in_words(const LintContext& subject, const std::set<std::string>& submitted, RuleMatches& hits) {
  for (const auto& command : subject.listing.commands)
    if (!command.parent && writes_script(submitted, command))
      for (const auto& word : command.arguments()) check_word(subject, word, hits);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const bool has_texts = subject.text.find("<<") != std::string_view::npos;
  const auto submitted = submitted_words(subject);
  if (!submitted.empty()) find_in_words(subject, submitted, hits);
  if (!has_texts) return hits;
  for (const auto& job : find_job_texts(subject, submitted)) {
    if (!job.quoted) find_expanded(subject, job, hits);
    find_literal(subject, job, hits);
    if (job.quoted && !job.appended) find_unexpanded(subject, job, hits);
  }
  return hits;
}

} // namespace safety_early_expansion

Rule rule_safety_early_expansion() {
  using namespace safety_early_expansion;
  return {
      .id = "safety/early-expansion",
      .severity = diag::Severity::warning,
      .title = "Variable expanded when the job script is written",
      .why = "The shell that writes a job script with << expands its variables at once, before the job "
             "exists: SLURM_JOB_ID and variables that the job sets itself are empty there. With << 'EOF' "
             "nothing is expanded, and sbatch reads the names of variables in directives literally.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Redirections.html#Here-Documents",
      .bad = {R"(#!/bin/bash
sbatch <<EOF
#!/bin/bash
#SBATCH --time=10
srun python train.py --out runs/$SLURM_JOB_ID
EOF
)"},
      .good = {R"(#!/bin/bash
sbatch <<'EOF'
#!/bin/bash
#SBATCH --time=10
srun python train.py --out runs/$SLURM_JOB_ID
EOF
)"},
      .find = find,
  };
}

} // namespace hpcml::check
