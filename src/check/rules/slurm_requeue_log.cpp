// SPDX-License-Identifier: MIT
// A job that may start again and then begins its log again.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_requeue_log {

RuleMatches find(const LintContext& subject) {
  const auto* requeue = subject.directive("requeue");
  if (!requeue || requeue->place.length == 0 || !subject.requests[0].requeue ||
      subject.directive("open-mode") || subject.requests[0].text("output") == "/dev/null")
    return {};
  const auto line = line_at(subject.text, requeue->place.offset);
  if (subject.text.substr(line.offset, 7) != "#SBATCH") return {};
  return {{requeue->place,
           "a requeued job overwrites its log",
           "add --open-mode=append",
           {{line.offset + line.length, 0, R"(
#SBATCH --open-mode=append)"}}}};
}

} // namespace slurm_requeue_log

Rule rule_slurm_requeue_log() {
  using namespace slurm_requeue_log;
  return {
      .id = "slurm/requeue-log",
      .severity = diag::Severity::note,
      .title = "Requeued job that overwrites its log",
      .why =
          "A requeued job keeps its id and opens the same log again. Unless the site has set JobFileAppend, "
          "Slurm empties it first, "
          "and what led to the requeue is lost.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_open-mode",
      .bad = {R"(#!/bin/bash
#SBATCH --requeue
srun true
)"},
      .good = {R"(#!/bin/bash
#SBATCH --requeue
#SBATCH --open-mode=append
)"},
      .find = find,
  };
}

} // namespace hpcml::check
