// SPDX-License-Identifier: MIT
// Where and with what a job of the site is submitted.
#include "check/site_rule.hpp"

#include "core/site_rules/submission_request.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_submit {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject)) {
    if (&part.request != &subject.requests.front()) break;
    const auto [hosts, command] = site_rules::submit_method_of(part.site, part.fit.facts);
    const auto from = hosts.empty() ? "" : fmt::format(" from {}", util::join(hosts, " or "));
    if (command)
      hits.push_back(
          {{}, fmt::format("submit it with {}{}", command->value, from), cite({}, command->origin)});
    else if (!hosts.empty())
      hits.push_back({{}, fmt::format("submit it{}", from), cite({}, part.site.submit.origin)});
  }
  return hits;
}

} // namespace site_submit

Rule rule_site_submit() {
  using namespace site_submit;
  return {
      .id = "site/submit",
      .severity = diag::Severity::note,
      .title = "Special login node or submit command",
      .why = "Sites with several types of login nodes take some jobs from one of them only, or by a separate "
             "command.",
      .link = "https://slurm.schedmd.com/sbatch.html",
      .bad = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gh
#SBATCH --gres=gpu:1
srun true
)",
              "bede"},
      .good = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --gres=gpu:1
srun true
)",
               "bede"},
      .find = find,
  };
}

} // namespace hpcml::check
