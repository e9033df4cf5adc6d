// SPDX-License-Identifier: MIT
// The first host's plain name on sites whose fast network has its own names.
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_master_suffix {

Hits find(const Subject& subject) {
  if (!subject.site || subject.site->network.master.suffix.empty()) return {};
  const auto& suffix = subject.site->network.master.suffix;
  Hits hits;
  for (const auto& seen : seen_variables(subject, {"MASTER_ADDR"})) {
    if (!seen.launch->step() || !shape_of(subject, *seen.launch).several_nodes) continue;
    if (seen.value->pieces.size() != 1 || seen.value->pieces[0].known) continue;
    const std::string_view text = seen.value->pieces[0].text;
    if (text.find("scontrol show hostname") == std::string_view::npos ||
        text.find("sed") != std::string_view::npos || text.find("awk") != std::string_view::npos)
      continue;
    const auto end = seen.value->place.offset + seen.value->place.length;
    add_hit(
        hits,
        {seen.value->place,
         "on " + subject.site->id + " the name of the fast network is the host's name with '" + suffix + "'",
         "MASTER_ADDR=\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)" + suffix + "\"",
         {{end, 0, suffix}}});
  }
  return hits;
}

} // namespace launch_master_suffix

Rule rule_launch_master_suffix() {
  using namespace launch_master_suffix;
  return {"launch/master-suffix",
          diag::Severity::warning,
          "The first host's name on the slow network",
          "On some sites the plain host name belongs to a network that compute nodes do not use among each "
          "other; the fast one has its own names. With the plain "
          "name the ranks time out, or talk over Ethernet.",
          "https://github.com/HelmholtzAI-FZJ/torchrun_jsc",
          {{"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=$(scontrol show "
            "hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nsrun python train.py\n",
            "jureca_dc"},
           {"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=\"$(scontrol show "
            "hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\"\nsrun python train.py\n",
            "juwels_booster"},
           {"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nMASTER_ADDR=`scontrol show hostname "
            "$SLURM_NODELIST | head -n1`\nexport MASTER_ADDR\nsrun python train.py\n",
            "juwels_booster"}},
          {{"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nMASTER_ADDR=\"$(scontrol show hostnames "
            "\"$SLURM_JOB_NODELIST\" | head -n 1)\"\nexport MASTER_ADDR=\"${MASTER_ADDR}i\"\nsrun python "
            "train.py\n",
            "jureca_dc"},
           "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=$(scontrol show hostnames "
           "\"$SLURM_JOB_NODELIST\" | head -n 1)\nsrun python train.py\n",
           {"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=$(getent hosts $X)\nsrun "
            "python train.py\n",
            "jureca_dc"}},
          find};
}

} // namespace hpcml::check
