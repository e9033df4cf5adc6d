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
  return {"site/qos-fit",
          diag::Severity::error,
          "QoS that does not fit the job",
          "A QoS opens certain partitions, and some want whole nodes: other jobs are refused.",
          "https://slurm.schedmd.com/qos.html",
          {{R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-exc
#SBATCH --gpus=4
#SBATCH -N1
srun true
)",
            "archer2_gpu"},
           {R"(#!/bin/bash
#SBATCH -A x@h100
#SBATCH -t 10
#SBATCH -p gpu_p6
#SBATCH -C h100
#SBATCH --qos=qos_gpu-dev
#SBATCH --gres=gpu:1
#SBATCH --hint=nomultithread
srun true
)",
            "jean_zay"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu -q gpu-exc
#SBATCH --gpus=8
#SBATCH -N2
srun true
)",
            "archer2_gpu"}},
          {{R"(#!/bin/bash
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
           {R"(#!/bin/bash
#SBATCH -A x@h100
#SBATCH -t 10
#SBATCH -p gpu_p6
#SBATCH -C h100
#SBATCH --qos=qos_gpu_h100-dev
#SBATCH --gres=gpu:1
#SBATCH --hint=nomultithread
srun true
)",
            "jean_zay"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-shd
#SBATCH --gpus=1
srun true
)",
            "archer2_gpu"}},
          find};
}

} // namespace hpcml::check
