// SPDX-License-Identifier: MIT
// How many nodes, tasks and GPUs one launch of a script gets from the directives and its own options.
#pragma once

#include <optional>

#include "check/subject.hpp"

namespace hpcml::check {

/// What a launch runs on; a member is nothing where the script does not say it.
struct LaunchShape {
  std::optional<long> nodes;
  std::optional<long> tasks;
  std::optional<long> tasks_per_node;
  std::optional<long> gpus_per_node;
  bool several_nodes = false; ///< also where only the least number is known
  /// Whether sbatch sets SLURM_NTASKS, SLURM_NTASKS_PER_NODE and SLURM_GPUS_PER_NODE: by options only.
  bool sets_tasks = false, sets_tasks_per_node = false, sets_gpus_per_node = false;
  bool several_tasks_per_node() const { return tasks_per_node && *tasks_per_node > 1; }
};

/// Without a step: one task on the first node.
LaunchShape shape_of(const LintContext& subject, const Launch& launch);
/// What all steps of a job of one component have together.
LaunchShape shape_of_job(const LintContext& subject);
/// The number that the word is, by itself, as a variable in which Slurm gives one of the job's numbers
/// ("$SLURM_NNODES"), or as a term of two of them ("$((SLURM_NNODES * 4))").
std::optional<long> number_of(const shell::Argument& word, const LaunchShape& job);

/// The piece that is the whole word and is not known, such as "$SLURM_NNODES" in quotes; nothing if the word
/// has other pieces.
const shell::ArgumentPiece* only_unknown_piece(const shell::Argument& word);

/// Whether a step's --jobid names the job that the script itself is.
bool is_own_job(const GivenOption& jobid);

} // namespace hpcml::check
