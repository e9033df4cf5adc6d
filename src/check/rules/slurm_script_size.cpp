// SPDX-License-Identifier: MIT
// A script that is larger than Slurm's controller takes.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_script_size() {
  // Examples would be megabytes: its tests make them.
  return {
      .id = "slurm/script-size",
      .severity = diag::Severity::error,
      .title = "Script too large",
      .why =
          "The controller refuses scripts over its max_script_size, 4 MiB unless the cluster raised it. What "
          "is larger is most likely data, and nothing of it is looked at.",
      .link = "https://slurm.schedmd.com/slurm.conf.html#OPT_max_script_size=#",
  };
}

} // namespace hpcml::check
