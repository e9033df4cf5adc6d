// SPDX-License-Identifier: MIT
// Options that every job of the site needs.
#include "check/site_rule.hpp"
#include "core/slurm/options.hpp"
#include <algorithm>

namespace hpcml::check {
namespace site_option_missing {

/// "-A", "-Ame" for "account".
bool is_letter_of(std::string_view word, const std::string& name) {
  const auto known = word.size() > 1
                         ? slurm::find_option(slurm::Program::sbatch, word[1], slurm::k_newest_version)
                         : std::nullopt;
  return known && known->name == name;
}

/// Whether the header shows the option, off or without a value: "##SBATCH -A <project>", "#SBATCH
/// --account=".
bool is_shown(const LintContext& subject, const std::string& name) {
  const auto header = subject.text.substr(0, subject.header.end);
  for (auto at = header.find("SBATCH"); at != std::string_view::npos; at = header.find("SBATCH", at + 1)) {
    const auto line = line_at(header, at);
    const auto text = header.substr(at, line.offset + line.length - at);
    for (auto dash = text.find('-'); dash != std::string_view::npos; dash = text.find('-', dash + 1)) {
      if (text[dash - 1] != ' ' && text[dash - 1] != '\t') continue;
      const auto word = text.substr(dash, text.find_first_of(" \t=", dash) - dash);
      if (word.starts_with("--") ? word.substr(2) == name : is_letter_of(word, name)) return true;
    }
  }
  return false;
}

/// Whether it is not a job itself, but writes one: it has no directive, and a text in it has.
bool writes_job(const LintContext& subject) {
  return subject.header.directives.empty() &&
         std::any_of(subject.texts.begin(), subject.texts.end(), [&](diag::TextRange text) {
           return subject.text.substr(text.offset, text.length).find("\n#SBATCH") != std::string_view::npos ||
                  subject.text.substr(text.offset, 7) == "#SBATCH";
         });
}

bool complete(const LintContext& subject, const ComponentSiteEvaluation&,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  match.place = {};
  return !is_shown(subject, violation.name);
}

RuleMatches find(const LintContext& subject) {
  return writes_job(subject) ? RuleMatches() : match_violations(subject, "site/option-missing", complete);
}

} // namespace site_option_missing

Rule rule_site_option_missing() {
  using namespace site_option_missing;
  return {
      .id = "site/option-missing",
      .severity = diag::Severity::warning,
      .title = "Missing option that the site requires",
      .why =
          "Without an account, a partition or a time limit many sites refuse the job, or give it a default "
          "that is far too small. The script alone is not wrong: the command line of sbatch, or a variable "
          "such as SBATCH_ACCOUNT, may set the option. The finding is therefore a warning. With --fail-on "
          "warning, hpcml check fails because of it.",
      .link = "https://slurm.schedmd.com/job_submit_plugins.html",
      .bad = {R"(#!/bin/bash
#SBATCH -p small-g
#SBATCH -t 10
#SBATCH --gpus-per-node=1
srun true
)",
              "lumi"},
      .good = k_lumi_job,
      .find = find,
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
