// SPDX-License-Identifier: MIT
// Whether the commands of an old script that stay may set up a Python environment.
#pragma once

#include "core/shell/syntax.hpp"
#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

/// True if a command of the node that is not cut may load, activate or build an environment.
bool may_set_up_python(const shell::SyntaxNode& node, const TextCuts& cuts);

} // namespace hpcml::import_script
