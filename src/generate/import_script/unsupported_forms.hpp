// SPDX-License-Identifier: MIT
// Forms of scripts that cannot be imported, each with the line and the reason.
#pragma once

#include "core/shell/script_commands.hpp"
#include "core/shell/syntax.hpp"
#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {

/// Reports why no program is imported, at the first command whose program is unknown.
void report_no_program(ImportState& porting, const shell::ScriptCommands& view);

/// Rejects a job array whose tasks are the ranks of one training: each task would train alone.
void refuse_array_ranks(ImportState& porting, const slurm::JobOptions& request,
                        const shell::SyntaxNode& program, const std::vector<FoundLaunch>& programs);

/// Rejects launches in a text that `eval` runs, which is not imported: they would start as on the old site.
void refuse_eval(ImportState& porting, const shell::ScriptCommands& view,
                 const std::vector<FoundLaunch>& programs);

/// Rejects a command that may be a function of a sourced file, which is not read, and that starts a program:
/// `source env.sh`, then `run_in_container python train.py`.
void refuse_sourced_functions(ImportState& porting, const std::vector<check::Launch>& launches,
                              const shell::ScriptCommands& view);

/// Whether the script sources a file that may set variables of its programs.
bool sources_settings(const shell::ScriptCommands& view);

/// Rejects programs of one pipeline: steps that need the same nodes wait for each other.
void refuse_pipelines(ImportState& porting, const shell::SyntaxNode& program,
                      const std::vector<FoundLaunch>& programs);

/// Rejects what takes Slurm's variables away from a launch: `unset SLURM_NTASKS`, `env -i`, and programs that
/// the script starts by ssh, which the new launch would start as well.
void refuse_other_starts(ImportState& porting, const shell::ScriptCommands& view,
                         const std::vector<FoundLaunch>& programs);

/// Rejects variables of Slurm with the job's size that a script of another site sets: steps would obey them.
void refuse_set_sizes(ImportState& porting, const shell::SyntaxNode& program,
                      const std::vector<FoundLaunch>& programs);

/// Rejects ranks that a program's shell computes from the number of its node, if the nodes have other numbers
/// of ranks now.
void refuse_computed_ranks(ImportState& porting, const std::vector<FoundLaunch>& programs);

/// Rejects a rank or number of ranks that the script sets for a single process, which starts others itself:
/// the launcher of the new job sets them to those of one rank.
void refuse_own_ranks(ImportState& porting, const std::vector<FoundLaunch>& programs);

/// Rejects a job without GPUs if another tool's directives request resources, which are not read:
/// `#YBATCH -r gpu_4`. The request can set the number of GPUs.
void refuse_foreign_resources(ImportState& porting, const slurm::ScriptHeader& header);

} // namespace hpcml::import_script
