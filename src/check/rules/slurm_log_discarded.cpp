// SPDX-License-Identifier: MIT
// Logs of the job in /dev/null.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_log_discarded {

constexpr std::string_view k_nowhere = "/dev/null";

/// True if the script may keep the output in another file: by a redirection, by tee or by srun's own log.
bool may_keep_output(const LintContext& subject) {
  const auto body = subject.text.substr(std::min(subject.header.end, subject.text.size()));
  return body.find('>') != std::string_view::npos || body.find("tee ") != std::string_view::npos ||
         std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
           const auto* step = launch.step();
           return step && (step->find("output") || step->find("error"));
         });
}

RuleMatches find(const LintContext& subject) {
  const auto* output = subject.directive("output");
  const auto* error = subject.directive("error");
  const bool no_output = output && output->value == k_nowhere && output->place.length > 0;
  const bool no_error = error ? error->value == k_nowhere : no_output;
  if (!no_error || may_keep_output(subject)) return {};
  const auto place = no_output ? output->place : error->place;
  return {{place,
           no_output ? "all output of the job is discarded, also its error messages"
                     : "the error messages of the job are discarded",
           "use a file for the errors: --error=%x-%j.err"}};
}

} // namespace slurm_log_discarded

Rule rule_slurm_log_discarded() {
  using namespace slurm_log_discarded;
  return {
      .id = "slurm/log-discarded",
      .severity = diag::Severity::note,
      .title = "Log in /dev/null",
      .why = "A job that fails shows why in its log alone. With --output=/dev/null and no --error, error "
             "messages of Slurm, of the launcher and of the program are lost.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_output",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10 --output=/dev/null
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10 --output=/dev/null --error=%x-%j.err
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
