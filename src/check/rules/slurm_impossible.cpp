// SPDX-License-Identifier: MIT
// Requests that contradict themselves.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_impossible() {
  return {"slurm/impossible",
          diag::Severity::error,
          "Request that no cluster can fulfil",
          "Tasks that do not fit on the nodes at --ntasks-per-node, more nodes in --nodelist than --nodes "
          "allows, a node that is wanted and excluded: "
          "sbatch says that the requested node configuration is not available, whatever the cluster has.",
          "https://slurm.schedmd.com/sbatch.html#OPT_ntasks-per-node",
          {{R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks=16 --ntasks-per-node=4
)"},
           {R"(#!/bin/bash
#SBATCH --nodes=1 --nodelist=n[1-4]
)",
            "", "22.05"},
           {R"(#!/bin/bash
#SBATCH --nodelist=n[1-4] --exclude=n3
)"},
           {R"(#!/bin/bash
#SBATCH --nodes=0
)"},
           {R"(#!/bin/bash
#SBATCH --ntasks=4 --distribution=arbitrary
)"}},
          {{R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks=8 --ntasks-per-node=4
)"},
           {R"(#!/bin/bash
#SBATCH --ntasks=16 --ntasks-per-node=4
)"},
           {R"(#!/bin/bash
#SBATCH --nodes=2-4 --ntasks=16 --ntasks-per-node=4
)"},
           {R"(#!/bin/bash
#SBATCH --nodes=1 --nodelist=n[1-4]
)",
            "", "23.02"},
           {R"(#!/bin/bash
#SBATCH --nodes=4 --nodelist=n[1-4] --exclude=m3
)"}}};
}

} // namespace hpcml::check
