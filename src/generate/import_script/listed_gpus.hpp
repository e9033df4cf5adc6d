// SPDX-License-Identifier: MIT
// GPUs that the old script shows its programs by lists of visible devices.
#pragma once

#include <string_view>
#include <vector>

#include "generate/import_script/import_state.hpp"
#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

/// Returns the number of GPUs that a list of visible ones counts for the program: "0,1,2,3"; 0 if there is
/// none.
unsigned listed_gpus(const FoundLaunch& found);

/// True if the script gives each rank its own GPU by hand: `export ROCR_VISIBLE_DEVICES=$SLURM_LOCALID`.
bool chooses_own_gpu(std::string_view text);

/// Rejects programs that see other GPUs than the main one, or none: all programs of the new script see those
/// of the job. `gpus`: of a node of the old job.
void refuse_other_gpus(ImportState& porting, const std::vector<FoundLaunch>& programs,
                       const FoundLaunch& main, unsigned gpus);

/// Shows a command of the batch script as many GPUs as the job requested, if the new site allocates whole
/// nodes. `is_first`: a setting in front of the command is one of its program.
void limit_batch_gpus(ImportState& porting, TextCuts& cuts, diag::TextRange command, bool is_first);

/// Whether jobs of the new site lack CUDA_VISIBLE_DEVICES, and no text of the script sets it. False if shells
/// of tasks read it, whose launcher may set it.
bool lacks_device_list(const ImportState& porting, const std::vector<FoundLaunch>& programs);

} // namespace hpcml::import_script
