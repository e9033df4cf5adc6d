// SPDX-License-Identifier: MIT
// What the old script's programs read and write by the shell's redirects.
#pragma once

#include <vector>

#include "core/shell/syntax.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

/// Gives no input to a launch in a loop that reads lines: the new launch would read them, but Python did not.
/// Rejects redirects among a program's words, which the new launch would lose.
void keep_redirects(ImportState& porting, TextCuts& cuts, const std::vector<FoundLaunch>& launches,
                    const shell::SyntaxNode& program);

} // namespace hpcml::import_script
