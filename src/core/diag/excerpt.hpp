// SPDX-License-Identifier: MIT
// The line of a file that a finding is about, cut to what fits on a screen, with a caret under its column.
#pragma once

#include <string>
#include <string_view>

#include "core/diag/diagnostic.hpp"

namespace hpcml::diag {

/// A line for users and the marks below it; both empty where the text has no such line or the line is empty.
struct Excerpt {
  std::string line;  ///< escapes for what cannot be seen, "…" where it was cut
  std::string marks; ///< spaces and carets, as wide as the line at most
};
/// The excerpt of `source` at `location`.
Excerpt make_excerpt(std::string_view source, const SourceLocation& location);

} // namespace hpcml::diag
