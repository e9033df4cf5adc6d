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
  return {"site/qos-unknown",
          diag::Severity::warning,
          "Unknown QoS",
          "sbatch refuses a job for a quality of service that does not exist, or that the account may not "
          "use: invalid qos specification.",
          "https://slurm.schedmd.com/qos.html",
          {{R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_dgb
#SBATCH --gres=gpu:4
srun true
)",
            "leonardo"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-share
#SBATCH --gpus=1
srun true
)",
            "archer2_gpu"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -C gpu
#SBATCH -t 10
#SBATCH -q regulr
#SBATCH --gpus-per-node=4
srun true
)",
            "perlmutter"}},
          {{R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_dbg
#SBATCH --gres=gpu:4
srun true
)",
            "leonardo"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-shd
#SBATCH --gpus=1
srun true
)",
            "archer2_gpu"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --qos=special
#SBATCH --gpus-per-node=1
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -A p200000 -p gpu -q dev -t 10
#SBATCH --gpus-per-node=4
srun true
)",
            "meluxina"},
           {R"(#!/bin/bash
#SBATCH -p gpu
#SBATCH -t 10
#SBATCH --qos=normal
#SBATCH --gpus=1
srun true
)",
            "sherlock"}},
          find,
          nullptr,
          k_likely_refusal};
}

} // namespace hpcml::check
