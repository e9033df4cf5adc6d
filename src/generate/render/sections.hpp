// SPDX-License-Identifier: MIT
// The parts of a script, each a pure function of the plan; templates/script.mustache puts them in order.
#pragma once

#include "core/model/plan.hpp"
#include "generate/render/line.hpp"

namespace hpcml::render {

/// The `#SBATCH` lines.
ScriptLines make_directives(const model::Plan& plan);
/// Comments on what the script is and how it was made.
ScriptLines make_head(const model::Plan& plan);
/// True if the script is run by `hpcml internal batch`: hpcml starts its ranks, or keeps its job alive.
bool runs_in_batch(const model::Plan& plan);
/// Finds hpcml for the node's architecture, and has it run the rest of the script; empty for other scripts.
ScriptLines make_batch_line(const model::Plan& plan);
/// What `hpcml internal batch` does at which event, as lines for `--explain`.
std::string explain_events(const model::Plan& plan);
/// How the shell treats failures.
ScriptLines make_options(const model::Plan& plan);
/// Modules, and the activation of an environment that is not inside a container.
ScriptLines make_software(const model::Plan& plan);
/// True if `hpcml internal stage` copies data and makes environments on the nodes' own disks.
bool stages_by_hpcml(const model::Plan& plan);
/// Place on the nodes' disks for the directory that internal batch removes, an expression.
std::string stage_disk(const model::Plan& plan);
/// The words that start one task on each node without srun: "ibrun"; empty with srun.
std::string node_launcher(const model::Plan& plan);
/// Directories on each node's own disk, and what goes into them: caches of a plain script (with hpcml, launch
/// makes them), copied data, an unpacked environment or one that is built from the site's wheels.
ScriptLines make_node_setup(const model::Plan& plan);
/// Variables of a plain script that name its caches on the nodes.
std::vector<Export> cache_exports(const model::Plan& plan);
/// The directories for the shell of an interactive job.
ScriptLines make_shell_node_setup(const model::Plan& plan);
/// True if the script removes directories on each node at its end.
bool removes_directories(const model::Plan& plan);
/// Exports for the whole job.
ScriptLines make_environment(const model::Plan& plan);
/// True if the site prescribes the port at which the programs' own store is served.
bool has_site_port(const model::PlannedRendezvous& endpoint);
/// Where the ranks of a plain script connect; empty with hpcml, which finds it.
ScriptLines make_rendezvous(const model::Plan& plan);
/// The same for the shell of an interactive job, with what `hpcml launch` cannot find by itself.
ScriptLines make_shell_rendezvous(const model::Plan& plan);
/// What the image gets before the steps: binds that depend on what the host has, or an EDF of the job's own.
ScriptLines make_container(const model::Plan& plan);
/// The step or steps that run the program; `step_args` are the launcher's options of each.
ScriptLines make_step(const model::Plan& plan, const std::vector<std::string>& step_args);

/// Assignments for the shell of a task ("RANK=$SLURM_PROCID"). Each list has its own shell or shells, because
/// an assignment may only read variables of the lists before it.
using TaskVariables = std::vector<std::vector<std::string>>;

/// A task's rank, for the task's shell and without quotes: by the site's variable for it, Slurm's, or MPI's.
std::string task_rank(const model::Plan& plan);
/// A variable with a number of the task, likewise: the step's own, or Slurm's `fallback`.
std::string task_variable(const model::Plan& plan, const std::string& name, const std::string& fallback);
/// One step of a script: what it runs as the plan says.
struct JobStepInput {
  const model::Plan& plan;
  const model::ImportedLaunch& program;      ///< of a ported script with its text and its options
  const std::vector<std::string>& step_args; ///< what the launcher gets
};
/// What starts the tasks and how they are bound: "srun --cpu-bind=none --kill-on-bad-exit=1".
ScriptWords step_words(const JobStepInput& step);
/// Returns what is between the launcher and the program, one group per line: shells that set variables, the
/// container, a shell that activates the environment in it. `last` starts the program.
std::vector<ScriptWords> wrapper_groups(const JobStepInput& step, const TaskVariables& variables = {},
                                        const std::string& last = "exec \"$@\"");
/// The last words of the step's command: `words`, or their text in the script that is ported.
ScriptWords program_words(const model::ImportedLaunch& program, const std::vector<std::string>& words);
/// Returns a step without the setup of ranks, for the program alone; `start` starts its tasks.
JobStepLine single_step(const JobStepInput& step, ScriptWords start, const char* why);
/// The program as a step: one task per rank (or one agent per node), or one process on the first node.
JobStepLine program_step(const JobStepInput& step);
/// The options of a step on the healthy ones of the job's nodes; empty where the job has no spare ones.
ScriptWords healthy_node_words(const model::Plan& plan);
/// True if the header counts one task per node and a step has all nodes: their number is then that of the
/// job, also if sbatch was given another one than the script has.
bool has_one_task_per_node(const model::Plan& plan);
/// Who decided what of a step.
Reasons step_reasons(const model::Plan& plan);
/// The step over all components of a heterogeneous job: one `srun` for all, each component with its own
/// options and, where it has one, its own program.
JobStepLine component_step(const JobStepInput& first);
/// Returns the lines before a step of several components, which unset variables of the first component.
ScriptLines component_lines();
/// Returns the lines before a step that binds with masks.
ScriptLines mask_lines(const model::Plan& plan);
/// What starts one task on each node.
ScriptWords per_node_words(const model::Plan& plan);
/// Returns the old script's own commands, with new launches in place of the old ones.
ScriptLines ported_lines(const model::Plan& plan, const std::vector<std::string>& step_args);
/// The step of a script with `hpcml launch`, and of a plain one.
std::vector<ScriptWords> launch_groups(const JobStepInput& step);
std::vector<ScriptWords> plain_groups(const JobStepInput& step);

/// All lines of the script in order, ready to print or to explain.
ScriptLines make_script(const model::Plan& plan);

} // namespace hpcml::render
