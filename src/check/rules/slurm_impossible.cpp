// SPDX-License-Identifier: MIT
// Requests that contradict themselves.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_impossible() {
  return {
      .id = "slurm/impossible",
      .severity = diag::Severity::error,
      .title = "Request that no cluster can fulfil",
      .why = "Tasks that do not fit on the nodes at --ntasks-per-node, more nodes in --nodelist than --nodes "
             "allows, a node that is wanted and excluded: "
             "sbatch says that the requested node configuration is not available, whatever the cluster has.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_ntasks-per-node",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks=16 --ntasks-per-node=4
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks=8 --ntasks-per-node=4
)"},
  };
}

} // namespace hpcml::check
