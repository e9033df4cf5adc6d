// SPDX-License-Identifier: MIT
// QoS that the site does not have.

#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_qos_unknown {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/qos-unknown")) {
      std::vector<std::string> names;
      for (const auto& qos : part.site.qos) names.push_back(qos.name);
      RuleMatch hit{part.place({"qos"}), part.describe(violation), util::choice_hint(violation.name, names)};
      if (const auto meant = nearest_typo(violation.name, names))
        hit.fix = replace_in(subject, hit.place, violation.name, *meant);
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_qos_unknown

Rule rule_site_qos_unknown() {
  using namespace site_qos_unknown;
  return {
      .id = "site/qos-unknown",
      .severity = diag::Severity::warning,
      .title = "Unknown QoS",
      .why = "sbatch refuses a job for a quality of service that does not exist, or that the account may not "
             "use: invalid qos specification.",
      .link = "https://slurm.schedmd.com/qos.html",
      .bad = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_dgb
#SBATCH --gres=gpu:4
srun true
)",
              "leonardo"},
      .good = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_dbg
#SBATCH --gres=gpu:4
srun true
)",
               "leonardo"},
      .find = find,
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
