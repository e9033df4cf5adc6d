// SPDX-License-Identifier: MIT
// Variables that the request sets with --env: what the old script assigns to them gives way.
#pragma once

#include <string>
#include <vector>

#include "generate/import_script/assignments.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

/// Cuts the script's assignments of variables that the request sets, and reports each. Warns if one must
/// stay: in a loop, or by read and for.
void cut_requested_variables(ImportState& porting, TextCuts& cuts, const shell::SyntaxNode& program);

/// Returns the names of a statement that the request does not set.
std::vector<std::string> without_requested(const ImportState& porting, std::vector<std::string> names);

/// Removes the settings of these variables from a program's words (after env) and from the options of its
/// image; warns if a shell's text sets one.
void drop_requested_settings(ImportState& porting, FoundLaunch& found);

} // namespace hpcml::import_script
