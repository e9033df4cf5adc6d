// SPDX-License-Identifier: MIT
// QoS that do not go with the partition, or that need another option.

#include "check/site_rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_qos_fit {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/qos-fit")) {
      const auto& qos = *part.fit.qos;
      Hit hit{part.place({"qos"}), {}};
      hit.severity = severity_of(verdict);
      if (verdict.rule == site::SiteRule::qos_elsewhere) {
        hit.message = "QoS " + qos.name + " is for " + util::join(qos.partitions, ", ") +
                      ", not for partition " + part.fit.partition()->name;
        hit.hint = with_source("take another QoS, or another partition", verdict.origin);
      } else {
        hit.message = "QoS " + qos.name + " needs " + verdict.name;
        hit.hint = with_source("add #SBATCH " + verdict.name, verdict.origin);
        hit.fix = add_directive_behind(subject, hit.place, verdict.name);
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
          "A QoS that does not fit",
          "A QoS opens certain partitions, and some want whole nodes: other jobs are refused.",
          "https://slurm.schedmd.com/qos.html",
          {{"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gpu\n#SBATCH --qos=gpu-exc\n#SBATCH "
            "--gpus=4\n#SBATCH -N1\nsrun true\n",
            "archer2_gpu"},
           {"#!/bin/bash\n#SBATCH -A x@h100\n#SBATCH -t 10\n#SBATCH -p gpu_p6\n#SBATCH -C h100\n#SBATCH "
            "--qos=qos_gpu-dev\n#SBATCH --gres=gpu:1\n#SBATCH --hint=nomultithread\nsrun true\n",
            "jean_zay"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gpu -q gpu-exc\n#SBATCH --gpus=8\n#SBATCH "
            "-N2\nsrun true\n",
            "archer2_gpu"}},
          {{"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gpu\n#SBATCH --qos=gpu-exc\n#SBATCH "
            "--gpus=4\n#SBATCH -N1\n#SBATCH --exclusive\nsrun true\n",
            "archer2_gpu"},
           {"#!/bin/bash\n#SBATCH -A x@h100\n#SBATCH -t 10\n#SBATCH -p gpu_p6\n#SBATCH -C h100\n#SBATCH "
            "--qos=qos_gpu_h100-dev\n#SBATCH --gres=gpu:1\n#SBATCH --hint=nomultithread\nsrun true\n",
            "jean_zay"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gpu\n#SBATCH --qos=gpu-shd\n#SBATCH "
            "--gpus=1\nsrun true\n",
            "archer2_gpu"}},
          find};
}

} // namespace hpcml::check
