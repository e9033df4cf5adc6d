// SPDX-License-Identifier: MIT
// One file for the debug output of all ranks.
#include <algorithm>
#include <array>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_nccl_debug_file {

/// Whether the name differs from rank to rank, as far as can be seen.
bool differs_by_rank(const std::string& name) {
  static constexpr std::array<std::string_view, 10> k_signs = {
      "%p", "%h", "RANK", "PROCID", "LOCALID", "NODEID", "hostname", "HOSTNAME", "$$", "/dev/"};
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](auto sign) { return name.find(sign) != std::string::npos; });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& seen : seen_variables(subject, {"NCCL_DEBUG_FILE", "RCCL_DEBUG_FILE"})) {
    const auto shape = shape_of(subject, *seen.launch);
    const bool several = seen.launch->agent() || shape.tasks.value_or(1) > 1;
    const auto name = seen.value->text();
    if (!several || name.empty() || differs_by_rank(name)) continue;
    add_match(hits, {seen.value->place, "all ranks write into this one file, over each other",
                     "add %h (host) and %p (process) to the name"});
  }
  return hits;
}

} // namespace launch_nccl_debug_file

Rule rule_launch_nccl_debug_file() {
  using namespace launch_nccl_debug_file;
  return {
      .id = "launch/nccl-debug-file",
      .severity = diag::Severity::warning,
      .title = "One debug file for all ranks",
      .why = "Every rank opens NCCL_DEBUG_FILE for writing and empties it. With one name for all, the output "
             "of most ranks is lost, and what stays is mixed.",
      .link = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-debug-file",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export NCCL_DEBUG_FILE=nccl.log
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export NCCL_DEBUG_FILE=nccl.%h.%p.log
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
