// SPDX-License-Identifier: MIT
// Variables that hold a launcher and to which a condition adds words: CMD="torchrun train.py", then
// CMD="$CMD --resume" in an if.
#pragma once

#include <string>
#include <vector>

#include "generate/import_script/edited_text.hpp"

namespace hpcml::import_script {

/// A variable whose first words are moved to the commands that read it.
struct SplitVariable {
  std::string name;
  std::string words;          ///< that were moved
  diag::SourceLocation place; ///< of its assignment
};

/// Moves the launcher and the program out of such variables: CMD="", then `torchrun train.py $CMD`. The
/// script does the same, and its launches can be read. Variables that are used in another way stay. Returns
/// the variables that were changed.
std::vector<SplitVariable> split_launcher_variables(EditedText& script, const std::string& file);

} // namespace hpcml::import_script
