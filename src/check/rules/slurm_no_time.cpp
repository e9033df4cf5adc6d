// SPDX-License-Identifier: MIT
// A job without --time.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace slurm_no_time {

constexpr std::string_view k_hint = "add #SBATCH --time=HH:MM:SS, or use --time on the command line";

/// True if the job may run for long: it has GPUs or whole nodes and does work, or it runs python.
bool may_be_long(const LintContext& subject) {
  const auto has_gpus = [](const slurm::JobSize& size) { return size.gpus > 0 || size.gpus_per_node > 0; };
  const bool large =
      std::any_of(subject.sizes.begin(), subject.sizes.end(), has_gpus) ||
      std::any_of(subject.requests.begin(), subject.requests.end(), [](const slurm::JobOptions& request) {
        return request.sharing == slurm::NodeSharing::exclusive;
      });
  return std::any_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
    return does_work(launch) && (large || launch.python() || launch.agent());
  });
}

/// Reports a job of some length, where no site is named.
RuleMatches find_anywhere(const LintContext& subject) {
  if (!may_be_long(subject) || subject.text.find("--time") != std::string_view::npos) return {};
  return {{{},
           "no time limit: the job gets the default of its partition, which may be a few minutes",
           std::string(k_hint)}};
}

RuleMatches find(const LintContext& subject) {
  if (subject.header.directives.empty()) return {}; // everything may come from the command line
  for (const auto& settings : subject.settings)
    for (const auto& setting : settings)
      if (setting.option == "time") return {};
  if (!subject.site) return find_anywhere(subject);
  if (subject.fits.empty()) return {};
  const auto& fit = subject.fits[0];
  const auto& partitions = fit.partitions;
  const std::string hint(k_hint);
  if (partitions.size() == 1 && partitions[0]->default_time)
    return {{{},
             fmt::format("no time limit: the job gets {}, the default of {}",
                         partitions[0]->default_time->value.to_slurm(), partitions[0]->name),
             hint}};
  // site/option-missing says where one is wanted.
  if (site_rules::sbatch_option_rule(*subject.site, "time", fit.facts).policy ==
      model::OptionPolicy::required)
    return {};
  return {{{},
           fmt::format("no time limit: the job gets the default of its partition, which may be short and is "
                       "not in the profile of {}",
                       subject.site->name),
           hint}};
}

} // namespace slurm_no_time

Rule rule_slurm_no_time() {
  using namespace slurm_no_time;
  return {
      .id = "slurm/no-time",
      .severity = diag::Severity::note,
      .title = "No time limit",
      .why = "Without --time the job gets the default of its partition, and is cancelled when that is over, "
             "whatever the partition "
             "would have allowed.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_time",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --partition=cpu6000g
srun true
)",
              "zurada"},
      .good = {R"(#!/bin/bash
#SBATCH -p cpu6000g --time=10
srun true
)",
               "zurada"},
      .find = find,
  };
}

} // namespace hpcml::check
