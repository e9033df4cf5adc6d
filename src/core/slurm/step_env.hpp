// SPDX-License-Identifier: MIT
// The layout of a step, read from the variables that Slurm or another launcher gives each task. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "core/util/shared_list.hpp"

namespace hpcml::slurm {

/// Where this task is in its step, and where the step's tasks are.
struct StepTaskPosition {
  unsigned rank = 0;
  unsigned local_rank = 0;
  unsigned world_size = 1;
  unsigned local_world_size = 1;
  unsigned node_rank = 0;
  util::SharedList<std::string> nodes;  ///< node names by their numbers, if `numbered`
  std::vector<unsigned> tasks_per_node; ///< one per node, same order
  std::string host;                     ///< this task's node, by its name in the step
  bool numbered = true; ///< false: the nodes are in another order, and only this task's own is known
  unsigned node_count() const { return static_cast<unsigned>(nodes.size()); }
};

/// What distinguishes steps: for names and ports that every task of a step must agree on.
struct StepIdentity {
  unsigned long long job = 0;
  unsigned long long step = 0;
  unsigned long long restart = 0; ///< SLURM_RESTART_COUNT: a requeued job keeps its id
  bool one_of_many = false; ///< this start cannot be distinguished from others of the job (MPICH's mpirun)
};

/// Slurm's counts per node: "2,1", "4(x2),3". At most 100000 nodes; an empty text or a count of 0 is an
/// error.
util::Result<std::vector<unsigned>> parse_tasks_per_node(std::string_view text);

/// True in a task that srun started; false in the batch script, in a shell of salloc and outside Slurm.
bool in_step_task(const util::EnvSnapshot& env);

/// The layout of the step this task belongs to, from SLURM_STEP_* (job-scope variables only where those are
/// missing). The error names the variable, its value and what it contradicts.
util::Result<StepTaskPosition> read_step_layout(const util::EnvSnapshot& env);

struct StepNodes;

/// Returns the node of rank 0, if it is known: with --distribution=arbitrary the list of the step's nodes
/// does not show it. `hosts` are then the lines of the file in SLURM_HOSTFILE, if that is this step's.
std::optional<std::string> node_of_first_rank(const util::EnvSnapshot& env, const StepTaskPosition& layout,
                                              std::string_view hosts);

/// Returns the error for a node that neither the variables show nor Slurm reports (`why`).
util::Error unknown_first_node(const util::EnvSnapshot& env, const StepTaskPosition& layout,
                               const std::string& why);

/// Numbers the nodes as reported by Slurm; returns an error if this task is then on another node.
util::Status take_step_nodes(const StepNodes& nodes, StepTaskPosition& layout);

/// True when the variables that `rule` names exist: mpirun or ibrun started this task.
bool in_launcher_task(const util::EnvSnapshot& env, const model::LauncherRule& rule);

/// The same layout from a launcher's own rank variables; the nodes are the job's, filled in blocks where the
/// launcher does not say otherwise. `host`: the name of this node, to find it among the job's nodes.
util::Result<StepTaskPosition> read_launcher_layout(const util::EnvSnapshot& env,
                                                    const model::LauncherRule& rule, const std::string& host);

/// Job and restart count of a launcher's start, and a number for it in place of the step's: the ranks of one
/// start may be in several steps, and the ones next to mpirun in none.
StepIdentity read_launcher_identity(const util::EnvSnapshot& env, const model::LauncherRule& rule);

/// Job, step and restart count; zeros outside Slurm.
StepIdentity read_step_identity(const util::EnvSnapshot& env);

} // namespace hpcml::slurm
