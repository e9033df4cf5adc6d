// SPDX-License-Identifier: MIT
// Safe fixes of a script: the edits that findings bring, applied, and shown as a difference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/rule.hpp"

namespace hpcml::check {

/// Takes an option out of its directive; with the whole line where nothing else is on it.
Edit remove_option(std::string_view text, diag::TextRange option);
/// A text after fixes, and how many findings they were for.
struct FixedText {
  std::string text;
  unsigned findings = 0;
};
/// The text with the findings' edits made. Those of one finding are made together or, where one touches bytes
/// that an earlier finding changes, not at all.
FixedText apply_fixes(std::string_view text, const Findings& findings);
/// The lines that differ, as `diff -u` prints them; empty where the texts are equal.
std::string unified_diff(std::string_view before, std::string_view after, const std::string& file);

} // namespace hpcml::check
