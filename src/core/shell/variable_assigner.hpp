// SPDX-License-Identifier: MIT
// Declarations and assignments: what a variable holds and who sees it.
#pragma once

#include "core/shell/parameter_expander.hpp"

namespace hpcml::shell {

/// Sets variables, as assignments and the declaring commands do.
class VariableAssigner : public ParameterExpander {
protected:
  using ParameterExpander::ParameterExpander;

  void run_declaration(const SyntaxNode& node, const Command& command, const std::string& name);
  void declare(const std::string& name, std::optional<Value> value, const std::string& flags, bool local,
               bool append, TextRange place);
  void make_local(const std::string& name);
  void assign(const Assignment& assignment);
  Value value_of(const Assignment& assignment);
  void set_value(const std::string& name, Value value, bool append, TextRange place) override;
  void note_setting(bool has_value = true);
  void set_element(const Assignment& assignment);

  VariableRef x_latest;          ///< that was set
  std::vector<Value> x_declared; ///< the values of the command that is being followed, `export A=…`
};

} // namespace hpcml::shell
