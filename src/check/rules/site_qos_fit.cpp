// SPDX-License-Identifier: MIT
// QoS that do not go with the partition, or that need another option.

#include "check/site_rule.hpp"

#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_qos_fit {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/qos-fit")) {
      RuleMatch hit{part.place({"qos"}), part.describe(violation)};
      hit.severity = severity_of(violation);
      if (violation.rule == site_rules::SiteRule::qos_elsewhere) {
        hit.hint = cite("use another QoS or another partition", violation.origin);
      } else {
        hit.hint = cite("add #SBATCH " + violation.name, violation.origin);
        hit.fix = add_directive_after(subject, hit.place, violation.name);
      }
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_qos_fit

Rule rule_site_qos_fit() {
  using namespace site_qos_fit;
  return {
      .id = "site/qos-fit",
      .severity = diag::Severity::error,
      .title = "QoS that does not fit the job",
      .why = "A QoS opens certain partitions, and some want whole nodes: other jobs are refused.",
      .link = "https://slurm.schedmd.com/qos.html",
      .bad = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-exc
#SBATCH --gpus=4
#SBATCH -N1
srun true
)",
              "archer2_gpu"},
      .good = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-exc
#SBATCH --gpus=4
#SBATCH -N1
#SBATCH --exclusive
srun true
)",
               "archer2_gpu"},
      .find = find,
  };
}

} // namespace hpcml::check
