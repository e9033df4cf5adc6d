// SPDX-License-Identifier: MIT
// The program of a script that has neither a launcher nor a Python script: a command that stays in the batch
// script.
#pragma once

#include <vector>

#include "core/launch_chain/launches.hpp"
#include "core/shell/script_commands.hpp"

namespace hpcml::import_script {

/// Returns what the job is for if no launch starts it: `sh train.sh`, `./run.sh x`, `source train.sh x`,
/// `python $FILE`. Null if there is none, or if a command that is not known may be it.
const launch_chain::Launch* find_batch_program(const std::vector<launch_chain::Launch>& launches,
                                               const shell::ScriptCommands& view);
/// Whether the batch script itself runs Python or a program that hpcml does not read, next to the imported
/// ones: `python eval.py`, `sh eval.sh`, `fairseq-train data`.
bool runs_batch_program(const launch_chain::Launch& launch);
/// Returns the first command whose program is known only when the script runs; null if there is none.
const shell::Command* find_unknown_command(const shell::ScriptCommands& view);

} // namespace hpcml::import_script
