// SPDX-License-Identifier: MIT
// A bash script, read but never run: its tree, and what in it could not be read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/shell/source.hpp"
#include "core/shell/syntax.hpp"

namespace hpcml::shell {

/// A part of the text that was not understood, and why.
struct UnparsedText {
  TextRange place; ///< from the command's beginning
  std::string why;
  TextRange failed_at = {}; ///< where bash stops; length 0: at the end of the text
};

/// A script as a tree.
struct Script {
  SourceText source;
  SyntaxNode program; ///< a list
};

/// Reads the text as bash does. Takes CRLF; never fails: what cannot be read is its own node.
Script read_script(std::string text);
/// Everything in the tree that could not be read, in order.
std::vector<UnparsedText> unread_parts(const SyntaxNode& node);
/// Here-documents and words that go over several lines, in order: what looks like a comment in them is text.
/// `file` is what read_script got.
std::vector<TextRange> long_texts(const SyntaxNode& node, std::string_view file);

} // namespace hpcml::shell
