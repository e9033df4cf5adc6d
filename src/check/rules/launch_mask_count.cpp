// SPDX-License-Identifier: MIT
// Fewer masks than tasks on a node.
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/masks.hpp"

namespace hpcml::check {
namespace launch_mask_count {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& [launch, step, masks] : masked_launches(subject)) {
    const auto tasks = shape_of(subject, *launch).tasks_per_node;
    const auto count = static_cast<long>(masks.masks.size());
    if (!tasks || *tasks <= count) continue;
    add_hit(hits,
            {masks.option->place,
             std::to_string(count) + (count == 1 ? " mask for " : " masks for ") + std::to_string(*tasks) +
                 " tasks per node: Slurm starts again from the first, so that tasks share the same CPUs",
             "give one mask per task of a node, or --cpu-bind=cores with --cpus-per-task"});
  }
  return hits;
}

} // namespace launch_mask_count

Rule rule_launch_mask_count() {
  using namespace launch_mask_count;
  return {"launch/mask-count",
          diag::Severity::warning,
          "Fewer masks than tasks",
          "A list of masks that is shorter than the number of tasks on a node is used again from its "
          "beginning: two or more tasks run on the same cores while "
          "others stay idle.",
          "https://slurm.schedmd.com/srun.html#OPT_cpu-bind",
          {"#!/bin/bash\n#SBATCH --nodes=1 --ntasks-per-node=8\nsrun --cpu-bind=mask_cpu:0xfe,0xfe00 python "
           "train.py\n",
           "#!/bin/bash\n#SBATCH -N2\nsrun --ntasks-per-node=4 "
           "--cpu-bind=verbose,mask_cpu:0xff,0xff00,0xff0000 ./run\n",
           "#!/bin/bash\n#SBATCH -N1 -n3\nsrun --cpu-bind=map_cpu:0,8 ./run\n"},
          {"#!/bin/bash\n#SBATCH --nodes=1 --ntasks-per-node=2\nsrun --cpu-bind=mask_cpu:0xfe,0xfe00 python "
           "train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=1 --ntasks-per-node=2\nsrun --cpu-bind=mask_cpu:$MASKS python "
           "train.py\n",
           "#!/bin/bash\n#SBATCH -N1 -n4\nsrun --cpu-bind=mask_cpu:0xf*4 ./run\n",
           "#!/bin/bash\n#SBATCH -n4\nsrun --cpu-bind=mask_cpu:0xff ./run\n"},
          find};
}

} // namespace hpcml::check
