// SPDX-License-Identifier: MIT
// Fast paths of NCCL switched off, as people do while they look for a fault.
#include <algorithm>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace launch_fabric_off {

/// Whether another plugin than NCCL's own for InfiniBand carries its messages.
bool has_other_network(const Launch& launch) {
  if (!launch.command->exports) return false;
  return std::any_of(launch.command->exports->begin(), launch.command->exports->end(), [](const auto& one) {
    return util::starts_with(one->name, "FI_") || one->name == "NCCL_NET" || one->name == "NCCL_NET_PLUGIN";
  });
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& seen :
       seen_variables(subject, {"NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"})) {
    if (!seen.value->known() || seen.value->text() != "1") continue;
    const auto job = shape_of_job(subject);
    const bool network = seen.name == "NCCL_IB_DISABLE";
    if (is_explained(subject, place_of(seen.value->place))) continue;
    if (network ? !job.several_nodes || has_other_network(*seen.launch) : job.gpus_per_node.value_or(0) < 2)
      continue;
    const auto& site = subject.site;
    if (site && std::any_of(site->env.begin(), site->env.end(),
                            [&](const auto& rule) { return rule.name == seen.name; }))
      continue;
    add_hit(hits, {place_of(seen.value->place),
                   std::string(seen.name) + "=1 makes NCCL copy " +
                       (network ? "between nodes over plain sockets"
                                : "between the GPUs of a node by a slower way"),
                   "take it out once the fault is found"});
  }
  return hits;
}

} // namespace launch_fabric_off

Rule rule_launch_fabric_off() {
  using namespace launch_fabric_off;
  return {"launch/fabric-off",
          diag::Severity::warning,
          "NCCL's fast paths switched off",
          "NCCL_IB_DISABLE, NCCL_P2P_DISABLE and NCCL_SHM_DISABLE help to find a fault. Left in a script "
          "they cost most of the bandwidth, and nothing says so.",
          "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
          {"#!/bin/bash\n#SBATCH -N2\nexport NCCL_IB_DISABLE=1\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH -N1 --gpus-per-node=4\nexport NCCL_P2P_DISABLE=1\ntorchrun --standalone "
           "--nproc_per_node=4 train.py\n",
           "#!/bin/bash\n#SBATCH -N1 --gres=gpu:8\nNCCL_SHM_DISABLE=1 srun python train.py\n"},
          {"#!/bin/bash\n#SBATCH -N1\nexport NCCL_IB_DISABLE=1\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH -N2\nexport NCCL_IB_DISABLE=0\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH -N2\n# export NCCL_IB_DISABLE=1\nsrun python train.py\n"},
          find};
}

} // namespace hpcml::check
