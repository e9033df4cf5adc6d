// SPDX-License-Identifier: MIT
// Goes through a script's tree as bash would, with what is known instead of values, for list_commands.
#pragma once

#include "core/shell/command_interpreter.hpp"

namespace hpcml::shell {

/// Goes through a script as bash would, on all paths, and notes each command in a listing.
class SymbolicInterpreter final : public CommandInterpreter {
public:
  SymbolicInterpreter(ScriptCommands& listing, bool keeps_beginnings) : CommandInterpreter(listing) {
    x_state.keeps_beginnings = keeps_beginnings;
  }
  void walk_script(const Script& script);

private:
  void walk(const SyntaxNode& node) override;
  void walk_list(const SyntaxNode& node);
  void walk_chain(const std::vector<SyntaxNode>& nodes, std::size_t first, std::size_t last);
  void walk_pipeline(const SyntaxNode& node);
  void walk_branch(const SyntaxNode& node);
  void walk_choice(const SyntaxNode& node);
  void walk_for(const SyntaxNode& node);
  void walk_arithmetic(const std::string& text, TextRange place) override;
  void define_function(const SyntaxNode& node);
  void repeat(TextRange place, const std::function<void()>& body);

  std::vector<const SyntaxNode*> x_functions; ///< in the order of their definitions
};

} // namespace hpcml::shell
