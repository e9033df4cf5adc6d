// SPDX-License-Identifier: MIT
// The grammar of bash as a recursive descent over characters.
#pragma once

#include "core/shell/source.hpp"
#include "core/shell/syntax.hpp"

namespace hpcml::shell {

/// Reads the whole text as a list. What cannot be read becomes a node that states why, and reading continues
/// at the next line; never throws. `depth`: how deep the text is nested in others. `extglob`: whether
/// patterns such as @(a|b) are read.
SyntaxNode parse_program(const SourceText& source, int depth = 0, bool extglob = false);

/// Reads the body of a here-document: expansions, or nothing but text if the delimiter was quoted. A body
/// that cannot be read is one unknown part.
std::vector<WordPart> parse_here_body(const SourceText& source, bool quoted, int depth, bool extglob);

} // namespace hpcml::shell
