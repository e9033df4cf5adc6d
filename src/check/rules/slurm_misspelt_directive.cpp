// SPDX-License-Identifier: MIT
// Lines that were meant as directives and begin with something else than #SBATCH.
#include <algorithm>
#include <cctype>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "check/typo.hpp"
#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_misspelt_directive {

constexpr std::string_view k_word = "#SBATCH";

/// The word that stands for #SBATCH; empty where the line begins as it should, or is a comment of another
/// kind.
std::string_view misspelt_word(std::string_view line, slurm::Version version) {
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  const auto word = line.substr(0, end);
  const auto option = line.find_first_not_of(" \t", end);
  // "#SBATCH" in other capitals, "##SBATCH" and "# SBATCH" belong to slurm/disabled-directive.
  if (option == std::string_view::npos || line[option] != '-' || option + 1 >= line.size() ||
      (line[option + 1] != '-' && std::isalpha(static_cast<unsigned char>(line[option + 1])) == 0))
    return {};
  if (word == k_word || word == "##SBATCH" || word.size() < 5) return {};
  if (word == "SBATCH" || word == "!#SBATCH" || word == "#!SBATCH" || word == "$SBATCH") return word;
  if (word.find("SLURM") != std::string_view::npos || word.find("sbatch") != std::string_view::npos)
    return {};
  if (util::to_lower(word) == "#sbatch") return {};
  // "#xSBATCH" is one way to switch a directive off; so is "#-SBATCH".
  if (word.size() == k_word.size() + 1 && word.substr(2) == k_word.substr(1)) return {};
  const auto known = [&](std::string_view word_known) { return word == word_known; };
  if (known("#PBS") || known("#BSUB") || known("#FLUX") || known("#COBALT")) return {};
  // Another program's directives ("#YBATCH -r a100_4") have options that sbatch has not.
  if (line[option + 1] != '-' && !slurm::find_option(slurm::Program::sbatch, line[option + 1], version))
    return {};
  return is_single_typo(word, k_word) ? word : std::string_view();
}

/// Reports `SBATCH --signal=…` after the header, which bash runs as a command.
void find_commands(const LintContext& subject, RuleMatches& hits) {
  for (const auto& command : subject.listing.commands)
    if (!command.parent && is_program(command, "SBATCH"))
      hits.add({line_at(subject.text, command.place.offset),
                "'SBATCH' is not #SBATCH: sbatch does not read this line, and bash finds no such command",
                "use #SBATCH above the first command"});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  bool ended = false;
  // After such a word that is a command the header is over, but its other lines are here to be fixed too.
  for (std::size_t at = 0; at < subject.text.size();) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    auto line = subject.text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto word = misspelt_word(line, subject.version);
    if (!word.empty()) {
      const bool command = word[0] != '#';
      hits.push_back({{at, line.size()},
                      "'" + std::string(word) + "' is not #SBATCH, so sbatch does not read this line" +
                          (command && !ended ? ", and ignores the directives below it" : ""),
                      "use #SBATCH",
                      {{at, word.size(), std::string(k_word)}},
                      {}});
      ended = ended || command;
    } else if (at >= subject.header.end && !line.empty() && line[0] != '#')
      break;
    at = end + 1;
  }
  find_commands(subject, hits);
  return hits;
}

} // namespace slurm_misspelt_directive

Rule rule_slurm_misspelt_directive() {
  using namespace slurm_misspelt_directive;
  return {
      .id = "slurm/misspelt-directive",
      .severity = diag::Severity::warning,
      .title = "Misspelt #SBATCH",
      .why =
          "Only lines that begin with #SBATCH count. \"!#SBATCH\" and \"SBATCH\" are commands to bash, which "
          "end the header; \"#SBTACH\" is a comment. The job starts without what the line asks for.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
!#SBATCH --nodes=2
srun true
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
srun true
)"},
      .find = find,
  };
}

} // namespace hpcml::check
