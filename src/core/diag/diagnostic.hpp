// SPDX-License-Identifier: MIT
// A finding for users: what, where, why, what to do next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::diag {

/// How bad a finding is; errors stop what was asked for.
enum class Severity { error, warning, note };

/// A place in a text. `line` and `column` count from 1; line 0 means "no place". Columns and `length` are in
/// bytes.
struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  unsigned length = 0;
};

/// One finding.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;    ///< stable id, for example "site/unknown" or "request/gpus-per-node"
  std::string message; ///< what is wrong, one sentence
  SourceLocation location;
  std::string hint;   ///< what to do next
  std::string source; ///< the document that states the fact, with the day when it was read

  Diagnostic() = default;
  // not inline: where it is, GCC 12 warns of members that "may be used uninitialized" in every file that
  // makes a finding
  Diagnostic(Severity level, std::string id, std::string what, SourceLocation where = {},
             std::string what_next = {}, std::string document = {});
};

using Diagnostics = std::vector<Diagnostic>;

/// True if any of them is an error.
bool has_errors(const Diagnostics& list);
/// Puts the findings of each file into the order of its lines; those without a line come last.
void sort_by_place(Diagnostics& list);
/// The diagnostic as text; with `source` (the text of the location) the line, cut to fit a screen, and a
/// caret are shown. No colour codes if !colour. Whatever could control a terminal is shown as an escape.
std::string render_text(const Diagnostic& diagnostic, std::string_view source, bool colour);
/// One JSON object per diagnostic, in an array.
std::string render_json(const Diagnostics& list);
/// The location of `length` bytes at byte `offset` of `text`.
SourceLocation location_at(const std::string& file, std::string_view text, std::size_t offset,
                           unsigned length = 1);

} // namespace hpcml::diag
