// SPDX-License-Identifier: MIT
// The line of a plan that begins an interactive job, and what of the request it cannot say.
#pragma once

#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/plan.hpp"

namespace hpcml::render {

/// The line, and what it does not contain.
struct InteractiveLine {
  std::string text;
  std::vector<model::PlannedDirective> pointless; ///< asked for, but only batch jobs have it
  std::vector<model::PlannedDirective> missing;   ///< asked for, and this program has no option for it
};
/// The line for a plan.
InteractiveLine make_interactive(const model::Plan& plan);
/// A warning for what is pointless, an error for what is missing.
diag::Diagnostics find_unset(const InteractiveLine& line);

/// Returns the lines to type in the shell of the interactive job, with a heading: modules, environment and,
/// with `with_program`, the step that starts the program as the batch script would. Empty if there are none.
std::string render_interactive_lines(const model::Plan& plan, bool with_program);

} // namespace hpcml::render
