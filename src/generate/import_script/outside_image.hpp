// SPDX-License-Identifier: MIT
// Programs of an image that run without one on the new site: the settings of the container that they keep.
#pragma once

#include <vector>

#include "core/shell/script_commands.hpp"
#include "core/shell/syntax.hpp"
#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {

/// Keeps variables of the container, and rejects programs whose files or directory only the container has.
void keep_container_settings(ImportState& porting, std::vector<FoundLaunch>& programs,
                             const shell::SyntaxNode& program, const slurm::ScriptHeader& header);

/// Rejects programs whose text starts a container engine that the new site lacks: `bash -c 'docker run …'`.
void refuse_hidden_engines(ImportState& porting, const shell::ScriptCommands& listing,
                           const std::vector<FoundLaunch>& programs);

} // namespace hpcml::import_script
