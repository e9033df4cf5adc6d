// SPDX-License-Identifier: MIT
// Variables that are read by another name than they are set by, or without a dollar sign.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "check/deduplicate.hpp"
#include "check/known_variables.hpp"
#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "check/typo.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_misspelt_variable {

/// Variables that logins, sites and modules set, and that are near to names which scripts use.
bool may_be_in_environment(std::string_view name) {
  static constexpr auto k_names = std::to_array<std::string_view>(
      {"CONDA_PREFIX", "DATADIR",    "DATA_DIR",    "DISPLAY",    "EUID",
       "GROUP",        "GROUPS",     "GROUP_HOME",  "HOME",       "HOMEDIR",
       "HOST",         "HOSTNAME",   "HOSTS",       "IFS",        "JOBDIR",
       "JOBID",        "JOB_ID",     "JOB_NAME",    "LANG",       "LD_LIBRARY_PATH",
       "LINENO",       "LOGNAME",    "MAIL",        "MODULEPATH", "OLDPWD",
       "PATH",         "PPID",       "PROJECT",     "PROJECTDIR", "PROJECTS",
       "PROJECT_DIR",  "PROJECT_ID", "PWD",         "PYTHONPATH", "RANDOM",
       "SCRATCH",      "SCRATCHDIR", "SCRATCH_DIR", "SECONDS",    "SHELL",
       "STORE",        "TEMP",       "TEMPDIR",     "TEMP_DIR",   "TERM",
       "TMP",          "TMPDIR",     "TMP_DIR",     "UID",        "USER",
       "USERNAME",     "USER_NAME",  "VIRTUAL_ENV", "WORK",       "WORKDIR",
       "WORKSPACE",    "WORK_DIR"});
  return name.starts_with("SLURM_") || name.starts_with("SBATCH_") || name.starts_with("BASH") ||
         name.starts_with("LMOD_") || name.starts_with("EB") || name.ends_with("_proxy") ||
         std::binary_search(k_names.begin(), k_names.end(), name) || is_known_variable(name);
}

/// Names of variables, each once and the short ones first, as most differ in length.
using Names = std::vector<std::string_view>;

bool is_before(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

void sort_names(Names& names) {
  std::sort(names.begin(), names.end(), is_before);
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

bool has_name(const Names& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name, is_before);
}

/// The names of the variables that the script assigns.
Names assigned_names(const LintContext& subject) {
  Names names;
  for (const auto& setting : subject.listing.settings) names.emplace_back(setting->name);
  sort_names(names);
  return names;
}

/// True if the script assigns the variable on the line of the place: `WORKING_DIR=$WORKINGDIR`.
bool is_assigned_on_line(const LintContext& subject, std::string_view name, std::size_t at) {
  const auto line = line_at(subject.text, at);
  return shell::find_name(subject.text.substr(line.offset, line.length), name) != std::string_view::npos;
}

/// True if the byte is where bash expands nothing: in a comment, in single quotes, in a here-document or in a
/// word of several lines.
bool is_plain_text(const LintContext& subject, std::size_t at) {
  const auto before = line_before(subject.text, at);
  return before.find('\'') != std::string_view::npos || before.ends_with("\\") ||
         is_in_comment(subject.text, at) || subject.is_in_text(at);
}

/// Where the script reads the variable first; nothing where it also writes the name in another way, or has a
/// default for it.
std::optional<diag::TextRange> find_reading(const LintContext& subject, std::string_view name) {
  const auto text = subject.text;
  std::optional<diag::TextRange> first;
  for (auto at = shell::find_name(text, name); at != std::string_view::npos;
       at = shell::find_name(text, name, at + 1)) {
    const bool plain = at > 0 && text[at - 1] == '$';
    const bool braced = at > 1 && text[at - 1] == '{' && text[at - 2] == '$';
    const auto before = line_before(text, at);
    for (const std::string_view test : {"-z ", "-n ", "-v "})
      if (before.find(test) != std::string_view::npos) return std::nullopt;
    if (!plain && !(braced && text.substr(at + name.size(), 1) == "}")) return std::nullopt;
    if (!first && !is_plain_text(subject, at)) first = diag::TextRange{at, name.size()};
  }
  return first;
}

/// True if the line only prints: what is empty shows as nothing.
bool only_prints(std::string_view text, std::size_t at) {
  const auto before = util::trim(line_before(text, at));
  return before.starts_with("echo ") || before.starts_with("printf ");
}

/// The names that the text reads and the script does not assign.
Names unassigned_names(std::string_view text, std::size_t from, const Names& assigned) {
  constexpr std::size_t k_shortest = 4;
  Names names;
  for (auto dollar = text.find('$', from); dollar != std::string_view::npos;
       dollar = text.find('$', dollar + 1)) {
    const auto begin = std::min(dollar + (text.substr(dollar + 1, 1) == "{" ? 2 : 1), text.size());
    auto end = begin;
    while (end < text.size() && util::is_name_char(text[end])) ++end;
    const auto name = text.substr(begin, end - begin);
    if (name.size() >= k_shortest && !name.starts_with("SLURM_") && !has_name(assigned, name))
      names.push_back(name);
  }
  sort_names(names);
  return names;
}

bool is_capital(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// The one of the names that is meant by another one: DATA_DIR by DATADIR; nothing where none is near.
std::optional<std::string> meant_variable_of(std::string_view name, const Names& names) {
  constexpr std::size_t k_most = 2; // letters more or fewer
  constexpr char k_case = 'a' ^ 'A';
  std::vector<std::string> near;
  for (const auto known : names)
    if (known.size() <= name.size() + k_most && name.size() <= known.size() + k_most &&
        (known[0] | k_case) == (name[0] | k_case))
      near.emplace_back(known);
  if (near.empty() || may_be_in_environment(name)) return std::nullopt;
  const auto letters = [](std::string_view text) { return util::replace_all(std::string(text), "_", ""); };
  const auto same = std::find_if(near.begin(), near.end(),
                                 [&](const auto& known) { return letters(known) == letters(name); });
  auto meant = same == near.end() ? nearest_typo(std::string(name), near) : std::optional(*same);
  // In capitals it may come from the environment, as USER does next to user.
  const bool capitals = std::all_of(name.begin(), name.end(), is_capital);
  return meant && capitals && util::to_lower(*meant) == util::to_lower(name) ? std::nullopt : meant;
}

/// Reports names that the script reads and never sets, and that are near to one that it sets.
void find_near_misses(const LintContext& subject, const Names& assigned, RuleMatches& hits) {
  constexpr std::size_t k_most = 400; // a script with more is generated, and comparing all takes long
  if (assigned.size() > k_most) return;
  const auto from = std::min(subject.header.end, subject.text.size());
  const auto unassigned = unassigned_names(subject.text, from, assigned);
  if (unassigned.size() > k_most) return;
  std::optional<bool> hidden; // looks at all of the text
  for (const auto name : unassigned) {
    const auto meant = meant_variable_of(name, assigned);
    const auto reading = meant ? find_reading(subject, name) : std::nullopt;
    if (!reading || is_assigned_on_line(subject, *meant, reading->offset)) continue;
    if (!hidden) hidden = has_hidden_assignments(subject);
    if (*hidden) return;
    hits.push_back(
        {*reading,
         fmt::format("nothing sets {}: the script sets {}", name, *meant),
         fmt::format("use {}", *meant),
         {{reading->offset, reading->length, *meant}},
         only_prints(subject.text, reading->offset) ? std::optional(diag::Severity::note) : std::nullopt});
  }
}

/// True for the name of a variable that the script, or Slurm, sets: capitals.
bool is_set_in_capitals(const Names& assigned, std::string_view name) {
  return name.size() >= 4 && std::all_of(name.begin(), name.end(), is_capital) &&
         (name.starts_with("SLURM_") || has_name(assigned, name));
}

/// True if the program of the line may fill in the name itself.
bool is_filled_in(std::string_view line) {
  for (const std::string_view sign : {"sed ", "awk ", "python -c", "python3 -c", "xargs", "parallel",
                                      "envsubst", "perl ", "jq ", "format", "replace", "curl "})
    if (line.find(sign) != std::string_view::npos) return true;
  return false;
}

/// Reports "{NAME}" without the dollar sign.
void find_braces(const LintContext& subject, const Names& assigned, RuleMatches& hits) {
  constexpr std::string_view k_openings = "${%@#\\"; // of other templates
  const auto text = subject.text;
  for (auto brace = text.find('{', std::min(subject.header.end, text.size()));
       brace != std::string_view::npos; brace = text.find('{', brace + 1)) {
    auto end = brace + 1;
    while (end < text.size() && is_capital(text[end])) ++end;
    if (text.substr(end, 1) != "}" ||
        (brace > 0 && k_openings.find(text[brace - 1]) != std::string_view::npos))
      continue;
    if (brace > 1 && text[brace - 2] == '%') continue; // nsys has %q{NAME}
    const auto name = text.substr(brace + 1, end - brace - 1);
    const auto line = line_at(text, brace);
    if (!is_set_in_capitals(assigned, name) || is_plain_text(subject, brace) ||
        is_filled_in(text.substr(line.offset, line.length)))
      continue;
    hits.add({{brace, end + 1 - brace},
              fmt::format("'{{{}}}' is plain text: without $ bash puts no value in its place", name),
              fmt::format("use ${{{}}}", name),
              {{brace, 0, "$"}}});
  }
}

/// Reports "$(NAME)", which runs a command of that name.
void find_substitutions(const LintContext& subject, const Names& assigned, RuleMatches& hits) {
  const auto text = subject.text;
  for (auto dollar = text.find("$(", std::min(subject.header.end, text.size()));
       dollar != std::string_view::npos; dollar = text.find("$(", dollar + 1)) {
    const auto end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", dollar + 2);
    if (end == std::string_view::npos || text[end] != ')') continue;
    const auto name = text.substr(dollar + 2, end - dollar - 2);
    if (!is_set_in_capitals(assigned, name) || is_plain_text(subject, dollar)) continue;
    hits.add({{dollar, end + 1 - dollar},
              fmt::format("'$({})' runs a command {}, which does not exist", name, name),
              fmt::format("use ${{{}}}", name),
              {{dollar, end + 1 - dollar, fmt::format("${{{}}}", name)}}});
  }
}

/// Reports `cd DATA_DIR`, where the script sets DATA_DIR.
void find_directories(const LintContext& subject, const Names& assigned, RuleMatches& hits) {
  for (const auto& command : subject.listing.commands) {
    if (!is_program(command, "cd") || command.parent || command.context.uncalled) continue;
    const auto words = command.arguments();
    if (words.size() != 1 || !words[0].known()) continue;
    const auto name = words[0].text();
    if (!is_set_in_capitals(assigned, name) ||
        subject.text.substr(words[0].place.offset, words[0].place.length) != name)
      continue;
    hits.add({words[0].place,
              fmt::format("'{}' is plain text: without $ bash puts no value in its place", name),
              fmt::format("use ${}", name),
              {{words[0].place.offset, 0, "$"}}});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.header.directives.empty() || subject.listing.settings.empty() || !is_shell_script(subject.text))
    return hits;
  const auto assigned = assigned_names(subject);
  find_braces(subject, assigned, hits);
  find_substitutions(subject, assigned, hits);
  find_directories(subject, assigned, hits);
  find_near_misses(subject, assigned, hits);
  return hits;
}

} // namespace safety_misspelt_variable

Rule rule_safety_misspelt_variable() {
  using namespace safety_misspelt_variable;
  return {
      .id = "safety/misspelt-variable",
      .severity = diag::Severity::warning,
      .title = "Misspelt variable",
      .why = "bash reads a variable that nothing sets as an empty text: --data gets the next option as its "
             "value, and a path loses a part. A name without $ is unchanged, so the program looks for a file "
             "of that name.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Shell-Parameter-Expansion.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
DATASETS=/scratch/me/data
python train.py --data $DATASET
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
DATASETS=/scratch/me/data
python train.py --data $DATASETS
)"},
      .find = find,
      .yields_to = {{"safety/rm-variable", overlap}, {"safety/name-runs-on", overlap}},
  };
}

} // namespace hpcml::check
