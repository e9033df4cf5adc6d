// SPDX-License-Identifier: MIT
// Lines that look like directives and are comments.
#include <algorithm>

#include "check/rule.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_disabled_directive {

/// The command continues, or ends in a script's name.
bool names_script(std::string_view line) {
  const auto end = line.find_last_not_of(" \t\r");
  const auto last = line.substr(0, end + 1);
  if (last.back() == '\\') return true;
  const auto name = last.substr(last.find_last_of(" \t") + 1);
  return name[0] != '-' && (name.ends_with(".sh") || name.ends_with(".slurm") || name.ends_with(".sbatch"));
}

/// "# SBATCH --x", " #SBATCH --x", "#sbatch --x"; "##SBATCH" is how users switch one off on purpose. "#
/// sbatch --x" and "#sbatch -N2 job.sh" state how the script is submitted.
bool looks_like_directive(std::string_view line) {
  if (line.starts_with("#SBATCH")) return false;
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return false;
  const auto word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string_view::npos || util::to_lower(line.substr(word, 6)) != "sbatch") return false;
  if (line[word] == 's' && (word > hash + 1 || names_script(line))) return false;
  const auto option = line.find_first_not_of(" \t", word + 6);
  return option != std::string_view::npos && line[option] == '-';
}

/// "# SBATCH …", also after spaces.
bool is_switched_off(std::string_view line) {
  const auto hash = line.find('#');
  return hash + 1 < line.size() && (line[hash + 1] == ' ' || line[hash + 1] == '\t');
}

/// The option that the line has first, by its name or letter.
std::string_view first_option(std::string_view line) {
  const auto begin = line.find('-');
  const auto word = line.substr(begin, line.find_first_of(" \t=", begin) - begin);
  return word.starts_with("--") ? word.substr(2) : word.substr(1, 1);
}

/// Whether a directive that counts has the option, or another one of the same kind: the line is an
/// alternative.
bool has_other(const LintContext& subject, std::string_view name) {
  std::string option(name);
  if (name.size() == 1) {
    const auto known = slurm::find_option(slurm::Program::sbatch, name[0], subject.version);
    if (!known) return false;
    option = known->name;
  }
  const auto is_kind = [&](std::string_view head, std::string_view prefixed) {
    return option.starts_with(head) && prefixed.starts_with(head);
  };
  for (const auto& request : subject.requests)
    for (const auto& [given_option, setting] : request.settings)
      if (given_option == option || is_kind("mem", given_option) || is_kind("g", given_option) ||
          is_kind("ntasks", given_option))
        return true;
  return false;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  bool counts = false;
  for (const auto& directive : subject.header.directives)
    counts = counts || directive.magic == slurm::DirectivePrefix::sbatch;
  for (std::size_t at = 0; at < subject.header.end;) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    const auto line = subject.text.substr(at, end - at);
    at = end + 1;
    if (!looks_like_directive(line) || has_other(subject, first_option(line))) continue;
    // Next to directives that count a space after the # is how users and editors switch a line off.
    if (counts && is_switched_off(line)) continue;
    hits.push_back(
        {{at - 1 - line.size(), line.size()},
         "sbatch reads this line as a comment, not as a directive",
         "use #SBATCH at the start of the line, in capitals; use ##SBATCH to disable it on purpose"});
  }
  return hits;
}

} // namespace slurm_disabled_directive

Rule rule_slurm_disabled_directive() {
  using namespace slurm_disabled_directive;
  return {
      .id = "slurm/disabled-directive",
      .severity = diag::Severity::warning,
      .title = "Directive that is a comment",
      .why =
          "Only #SBATCH in capitals at the very start of a line counts. With a space before or inside it, or "
          "in lower case, the line is ignored silently.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
# SBATCH --nodes=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
)"},
      .find = find,
  };
}

} // namespace hpcml::check
