// SPDX-License-Identifier: MIT
// Simple commands: what they are and what they do to the state.
#pragma once

#include "core/shell/nested_interpreter.hpp"

namespace hpcml::shell {

/// Notes each command in the listing, and follows functions that it calls.
class CommandInterpreter : public NestedInterpreter {
protected:
  using NestedInterpreter::NestedInterpreter;

  void walk_simple(const SyntaxNode& node);
  std::vector<ResolvedRedirect> expand_redirects(const SyntaxNode& node);

  std::set<const SyntaxNode*> x_called; ///< bodies of functions that some command calls

private:
  void assign_all(const SyntaxNode& node);
  std::vector<Value> add_declared(const SyntaxNode& node, Command& command);
  void find_program(Command& command) const;
  std::size_t record(Command& command);
  void act(const SyntaxNode& node, Command& command, std::size_t index);
  void call_function(const FunctionState& function, const Command& command, std::size_t index);
  void with_settings(const Command& command, const std::function<void()>& body) override;
};

} // namespace hpcml::shell
