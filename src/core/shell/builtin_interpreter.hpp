// SPDX-License-Identifier: MIT
// The commands of bash itself that change variables or the flow.
#pragma once

#include "core/shell/variable_assigner.hpp"

namespace hpcml::shell {

/// Follows bash's own commands: set, unset, read, eval, break, trap and the like.
class BuiltinInterpreter : public VariableAssigner {
protected:
  using VariableAssigner::VariableAssigner;

  bool run_builtin(const SyntaxNode& node, const Command& command, std::size_t index);
  virtual void run_in_shell(const SourceText& text, const std::string& how, std::size_t parent,
                            bool inexact) = 0;
  virtual void with_settings(const Command& command, const std::function<void()>& body) = 0;

private:
  bool run_flow(std::string_view name, const Command& command);
  void run_eval(const Command& command, std::size_t index);
  void run_source(const Command& command, std::size_t index);
  void run_set(const Command& command);
  void run_unset(const Command& command);
  void run_reader(const Command& command, const std::string& name);
  void run_trap(const Command& command, std::size_t index);
};

} // namespace hpcml::shell
