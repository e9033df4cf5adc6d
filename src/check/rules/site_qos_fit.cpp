// SPDX-License-Identifier: MIT
// QoS that do not go with the partition, or that need another option.
#include <algorithm>

#include "check/site_rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_qos_fit {

/// Whether the option ("--exclusive") is among the job's.
bool has_option(const SitePart& part, const std::string& option) {
  const auto name = option.substr(2, option.find('=') - 2);
  return name == "exclusive" ? part.fit.owner : part.request.has(name);
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const auto* qos = part.fit.qos;
    if (!qos || !part.request.has("qos")) continue;
    const auto place = part.place({"qos"});
    const auto is_for = [&](const auto* partition) {
      return qos->partitions.empty() || std::find(qos->partitions.begin(), qos->partitions.end(),
                                                  partition->name) != qos->partitions.end();
    };
    const auto& partitions = part.fit.partitions;
    if (!part.demand.partitions.empty() && !partitions.empty() &&
        std::none_of(partitions.begin(), partitions.end(), is_for))
      hits.push_back({place,
                      "QoS " + qos->name + " is for " + util::join(qos->partitions, ", ") +
                          ", not for partition " + partitions.front()->name,
                      with_source("take another QoS, or another partition", qos->origin),
                      {},
                      diag::Severity::warning}); // profiles may know a part of the list only
    for (const auto& option : qos->needs)
      if (!has_option(part, option))
        hits.push_back({place, "QoS " + qos->name + " needs " + option,
                        with_source("add #SBATCH " + option, qos->origin),
                        add_directive_behind(subject, place, option), diag::Severity::error});
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
