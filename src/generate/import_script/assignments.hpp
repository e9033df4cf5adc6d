// SPDX-License-Identifier: MIT
// Statements of the old script that only set variables, and what becomes of those that the ranks would see.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/import_script/import_state.hpp"
#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

/// A statement that does nothing but set variables.
struct AssignmentStatement {
  ByteRange range;
  std::vector<std::string> names; ///< none: it is gone
};

/// The statement as one that only sets variables; nothing where it does more.
std::optional<AssignmentStatement> as_assignment(const shell::SyntaxNode& node);
/// Whether hpcml or the new profile sets the variable, or it belongs to the old site's network and devices.
bool is_owned(const std::string& name);
/// Whether the statement sets a number of threads that does not come from the cores of the old job.
bool keeps_threads(std::string_view text);
/// Whether the launcher sets the variable for the ranks, whatever the job's value is.
bool is_rank_variable(const std::string& name);
/// Whether an engine reads its binds in the variable: APPTAINER_BIND.
bool is_of_image(const std::string& name);
/// Reports exports that are kept although the new script or its launcher sets them as well, each once.
/// `inner`: statements inside `if`, loops and functions, which may be the only ones there.
void note_exports(ImportState& porting, TextCuts& cuts, const std::vector<AssignmentStatement>& outermost,
                  const std::vector<AssignmentStatement>& inner);

} // namespace hpcml::import_script
