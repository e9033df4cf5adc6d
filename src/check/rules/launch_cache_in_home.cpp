// SPDX-License-Identifier: MIT
// Compiler caches of several nodes in one shared directory.
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_cache_in_home {

/// Whether the value is a path in the home directory that all nodes share.
bool is_in_home(const shell::Argument& value) {
  const auto text = value.text();
  if (text.find("SLURM_") != std::string::npos || text.find("hostname") != std::string::npos ||
      text.find("HOSTNAME") != std::string::npos)
    return false;
  return text.starts_with("$HOME/") || text.starts_with("${HOME}/") || text.starts_with("~/") ||
         text.starts_with("/home/");
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!shape_of_job(subject).several_nodes) return hits;
  for (const auto& seen :
       seen_variables(subject, {"TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR",
                                "MIOPEN_USER_DB_PATH", "MIOPEN_CUSTOM_CACHE_DIR"}))
    if (is_in_home(*seen.value))
      add_match(hits,
                {seen.set_at,
                 fmt::format("{} is in the home directory, which all nodes share: they compile into "
                             "the same files",
                             seen.name),
                 fmt::format("use a directory on the node: export {}=/tmp/$USER-$SLURM_JOB_ID", seen.name)});
  return hits;
}

} // namespace launch_cache_in_home

Rule rule_launch_cache_in_home() {
  using namespace launch_cache_in_home;
  return {
      .id = "launch/cache-in-home",
      .severity = diag::Severity::note,
      .title = "Compiler cache in the shared home directory",
      .why = "torch.compile, Triton and MIOpen write many small files while they compile. If all nodes share "
             "one "
             "cache on a network file system, ranks wait for its locks or fail with \"Stale file handle\".",
      .link = "https://docs.pytorch.org/tutorials/recipes/torch_compile_caching_configuration_tutorial.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=4
export TRITON_CACHE_DIR=$HOME/.triton/cache
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=4
export TRITON_CACHE_DIR=/tmp/$USER-$SLURM_JOB_ID
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
