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

/// Rejects a job without GPUs if another tool's directives request resources, which are not read:
/// `#YBATCH -r gpu_4`. The request can set the number of GPUs.
void refuse_foreign_resources(ImportState& porting, const slurm::ScriptHeader& header);

} // namespace hpcml::import_script
