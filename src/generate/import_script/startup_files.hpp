// SPDX-License-Identifier: MIT
// Lines of the old script that set up its shell before its own environment, but run after the new one.
#pragma once

#include "core/shell/syntax.hpp"
#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

struct ImportState;

/// Whether a statement activates a Python environment: `source …/activate`, `conda activate`.
bool is_activation(const shell::SyntaxNode& node);

/// Whether the program is conda, mamba or micromamba.
bool is_package_manager(const std::string& program);

/// Whether the statement only makes a package manager ready, or leaves its environment: `source
/// DIR/conda.sh`, `eval "$(conda shell.bash hook)"`, `conda deactivate`.
bool sets_up_package_manager(const shell::SyntaxNode& node);

/// `set -euo pipefail`, `set -o nounset`.
bool sets_nounset(const shell::SyntaxNode& node);

/// Whether the statement, or one within it, runs a package manager.
bool uses_package_manager(const shell::SyntaxNode& node);

/// Keeps the PATH of the environment that the request names in front of what startup files set: a profile of
/// the machine or the user, or an assignment of PATH before the script's own activation.
void keep_environment_path(const ImportState& porting, TextCuts& cuts, const shell::SyntaxNode& program);

} // namespace hpcml::import_script
