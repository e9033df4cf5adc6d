// SPDX-License-Identifier: MIT
// Compound commands of a script: loops, conditions, functions, groups.
#pragma once

#include "core/shell/command_parser.hpp"

namespace hpcml::shell {

/// Reads the whole grammar.
class CompoundParser : public CommandParser {
public:
  CompoundParser(const SourceText& source, int depth, bool extglob) : CommandParser(source, depth, extglob) {}

private:
  std::optional<SyntaxNode> parse_compound() override;
  SyntaxNode parse_braced();
  SyntaxNode parse_subshell();
  SyntaxNode parse_if();
  SyntaxNode parse_loop();
  SyntaxNode parse_for();
  void parse_for_words(SyntaxNode& node);
  SyntaxNode parse_body(std::string_view of);
  SyntaxNode parse_case();
  SyntaxNode parse_arm();
  SyntaxNode parse_function();
  SyntaxNode parse_condition();
  void parse_condition_or(SyntaxNode& node);
  void parse_condition_term(SyntaxNode& node);
  void skip_condition_space();
};

} // namespace hpcml::shell
