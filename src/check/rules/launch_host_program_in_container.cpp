// SPDX-License-Identifier: MIT
// Programs of the host called inside an image: module and srun.
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_host_program_in_container {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& launch : subject.launches) {
    const auto* container = launch.container();
    if (!container) continue;
    if (const auto& last = launch.last(); last.program == "module" || last.program == "ml")
      add_hit(hits, {place_of(last.place),
                     "modules are of the host: in the image there is neither the command nor what it loads",
                     "load modules before the container starts, or take what the image has"});
    const auto* srun = launch.find("srun");
    if (srun && srun > container)
      add_hit(hits, {place_of(srun->place), "srun inside the image: it has no Slurm, or another version",
                     "start the container by srun: srun " + container->program + " exec …"});
  }
  return hits;
}

} // namespace launch_host_program_in_container

Rule rule_launch_host_program_in_container() {
  using namespace launch_host_program_in_container;
  return {"launch/host-program-in-container",
          diag::Severity::warning,
          "module or srun inside a container",
          "An image has its own file system. The host's module command and Slurm's programs are not in it: "
          "\"module: command not found\", \"srun: not found\".",
          "https://apptainer.org/docs/user/main/mpi.html",
          {"#!/bin/bash\nsrun singularity exec x.sif bash -c 'module load pytorch; python t.py'\n",
           "#!/bin/bash\nsingularity exec x.sif srun python t.py\n",
           "#!/bin/bash\napptainer exec --nv x.sif bash -c \"ml cuda && torchrun --standalone t.py\"\n"},
          {"#!/bin/bash\nmodule load singularity\nsrun singularity exec x.sif python t.py\n",
           "#!/bin/bash\nsrun singularity exec x.sif bash -c 'python t.py'\n",
           "#!/bin/bash\nmodule load pytorch\nsrun python t.py\n"},
          find};
}

} // namespace hpcml::check
