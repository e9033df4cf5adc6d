// SPDX-License-Identifier: MIT
// A Plan as text: the sbatch script, its explanation, JSON, the interactive line.
#pragma once

#include <string>

#include "core/diag/diagnostic.hpp"
#include "core/model/plan.hpp"

namespace hpcml::render {

/// What of the plan cannot be written in a script ("usage/…"): a line break in a header value, a NUL in a
/// word, a wrong name. The functions below must only be given plans of which this says nothing.
diag::Diagnostics find_unwritable(const model::Plan& plan);
/// The sbatch script, ready to submit; passes `bash -n` and shellcheck.
std::string render_script(const model::Plan& plan);
/// The same lines, each followed by where it comes from.
std::string render_explain(const model::Plan& plan);
/// The plan as JSON, origins included.
std::string render_json(const model::Plan& plan);
/// The line for the same request as an interactive job: salloc, srun or a program of the site.
std::string render_interactive(const model::Plan& plan);

} // namespace hpcml::render
