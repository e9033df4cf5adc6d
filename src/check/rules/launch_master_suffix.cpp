// SPDX-License-Identifier: MIT
// The first host's plain name on sites whose fast network has its own names.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_master_suffix {

RuleMatches find(const LintContext& subject) {
  if (!subject.site || subject.site->network.master.suffix.empty()) return {};
  const auto& suffix = subject.site->network.master.suffix;
  RuleMatches hits;
  for (const auto& seen : seen_variables(subject, {"MASTER_ADDR"})) {
    if (!seen.launch->step() || !shape_of(subject, *seen.launch).several_nodes) continue;
    if (seen.value->pieces.size() != 1 || seen.value->pieces[0].known) continue;
    const std::string_view text = seen.value->pieces[0].text;
    if (text.find("scontrol show hostname") == std::string_view::npos ||
        text.find("sed") != std::string_view::npos || text.find("awk") != std::string_view::npos)
      continue;
    const auto end = seen.value->place.offset + seen.value->place.length;
    add_match(hits,
              {seen.value->place,
               fmt::format("on {} the name of the fast network is the host's name with '{}'",
                           subject.site->id, suffix),
               "MASTER_ADDR=\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)" + suffix + "\"",
               {{end, 0, suffix}}});
  }
  return hits;
}

} // namespace launch_master_suffix

Rule rule_launch_master_suffix() {
  using namespace launch_master_suffix;
  return {
      .id = "launch/master-suffix",
      .severity = diag::Severity::warning,
      .title = "Address of the first rank on the slow network",
      .why =
          "On some sites the plain host name belongs to a network that compute nodes do not use among each "
          "other; the fast one has its own names. With the plain "
          "name the ranks time out, or talk over Ethernet.",
      .link = "https://github.com/HelmholtzAI-FZJ/torchrun_jsc",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun python train.py
)",
              "jureca_dc"},
      .good = {R"sh(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
MASTER_ADDR="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)"
export MASTER_ADDR="${MASTER_ADDR}i"
srun python train.py
)sh",
               "jureca_dc"},
      .find = find,
  };
}

} // namespace hpcml::check
