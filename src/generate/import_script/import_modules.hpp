// SPDX-License-Identifier: MIT
// Environment modules of the old script, and what becomes of them.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/shell/syntax.hpp"

namespace hpcml::import_script {

struct ImportState;

/// The text of a word, with expansions as written.
std::string word_text(const shell::Word& word);

/// All modules that the site's own environments load.
std::vector<std::string> usual_modules(const model::Site& site);

/// The modules that a statement loads: `module load A B`, `module swap X A`, `ml A`. Empty for any other.
std::vector<std::string> loaded_modules(const shell::SyntaxNode& node);
/// All of them, at every level of the script.
std::vector<std::string> all_loaded_modules(const shell::SyntaxNode& program);
/// What the new site loads for a statement that goes; what it does not is reported. `shown` is the statement.
void replace_modules(ImportState& porting, const shell::SyntaxNode& node, const std::string& shown);

} // namespace hpcml::import_script
