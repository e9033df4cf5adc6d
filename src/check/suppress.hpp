// SPDX-License-Identifier: MIT
// Comments that silence a rule: "# hpcml: disable=ID why", for the line they are on or the next one;
// "disable-file" for the whole script; "# hpcml: not-a-job why" for a script that is none of a job.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/rule.hpp"
#include "core/diag/line_table.hpp"

namespace hpcml::check {

/// True if a comment, "# hpcml: not-a-job why", marks the script as one that is not submitted: a helper that
/// runs on the login node.
bool is_no_job(std::string_view text);

/// Takes away the findings that a comment with a reason silences, and adds one for each comment that names no
/// rule, gives no reason or silences nothing. A line that ends with a backslash continues in the next one.
void apply_suppressions(const std::string& file, std::string_view text, const diag::LineTable& lines,
                        Findings& findings);

} // namespace hpcml::check
