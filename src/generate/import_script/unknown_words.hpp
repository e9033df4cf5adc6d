// SPDX-License-Identifier: MIT
// Words of a launch whose number only the running job knows: $SRUN_OPTIONS, "${BINDS[@]}".
#pragma once

#include <string_view>
#include <vector>

#include "core/model/container_engine.hpp"
#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {

/// Whether such a word between a starter and its program has options of the starter, and is not itself the
/// beginning of the program. The script's assignments show it, or the variable's name.
bool is_unknown_option(std::string_view script, const check::Link& starter, const shell::Argument& word);

/// Keeps such words among the options of the launch's container for the new engine, or rejects them; without
/// an engine the program runs outside of images, and they are reported as removed.
void port_unknown_options(ImportState& porting, const std::vector<check::Launch>& launches,
                          FoundLaunch& found, const model::EngineRow* engine);

} // namespace hpcml::import_script
