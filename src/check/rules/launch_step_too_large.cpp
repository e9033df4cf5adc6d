// SPDX-License-Identifier: MIT
// A step of more nodes than the job has.
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace {

Hits find(const Subject& subject) {
  const auto job = shape_of_job(subject);
  if (!job.nodes) return {};
  Hits hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_own(launch, *step) || find_any(*step, {"jobid", "het-group"})) continue;
    const auto* nodes = step->find("nodes");
    const auto count = nodes && nodes->value && nodes->value->known() ? number_of(*nodes->value, job) : std::nullopt;
    if (!count || *count <= *job.nodes) continue;
    add_hit(hits, {place_of(nodes->place), "srun asks for " + std::to_string(*count) + " nodes, but the job has " + std::to_string(*job.nodes),
                   "write $SLURM_NNODES, or leave it out: a step takes all nodes of the job by default", replace_end(subject, place_of(nodes->place), nodes->value->text(), "$SLURM_NNODES")});
  }
  return hits;
}

} // namespace

extern const Rule k_launch_step_too_large;
const Rule k_launch_step_too_large = {
    "launch/step-too-large",
    diag::Severity::error,
    "A step of more nodes than the job",
    "A step lives inside its job. srun with more nodes than the directives ask for ends at once with \"Only allocated N nodes asked for M\".",
    "https://slurm.schedmd.com/srun.html#OPT_nodes",
    {"#!/bin/bash\n#SBATCH --nodes=1 --ntasks=4\nsrun --nodes=2 python train.py\n", "#!/bin/bash\n#SBATCH -N 2\nsrun -N4 -n4 ./a.out\n", "#!/bin/bash\n#SBATCH -N 2\nN=3\nsrun -N $N ./a.out\n"},
    {"#!/bin/bash\n#SBATCH --nodes=2\nsrun --nodes=2 python train.py\n", "#!/bin/bash\n#SBATCH --nodes=2\nsrun --nodes=1 python train.py\n",
     "#!/bin/bash\n#SBATCH --ntasks=8\nsrun --nodes=2 python train.py\n"},
    find};

} // namespace hpcml::check
