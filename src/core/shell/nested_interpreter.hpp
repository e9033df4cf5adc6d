// SPDX-License-Identifier: MIT
// Texts in a script that are scripts: bash -c, eval, here-documents, files that it writes.
#pragma once

#include "core/shell/builtin_interpreter.hpp"

namespace hpcml::shell {

/// Reads and follows scripts within the script.
class NestedInterpreter : public BuiltinInterpreter {
protected:
  using BuiltinInterpreter::BuiltinInterpreter;

  void note_files(const Command& command);
  void walk_nested(const Command& command, std::size_t index);
  void walk_submitted(const Command& command, std::size_t index, const std::string& name);
  void run_in_shell(const SourceText& text, const std::string& how, std::size_t parent,
                    bool inexact) override;

  std::optional<std::size_t> x_parent; ///< the command that runs the text

private:
  bool walk_shell(const Command& command, std::size_t index, std::size_t shell);
  void run_text(const SourceText& text, const std::string& how, std::size_t parent,
                const std::function<void()>& prepare);
  void enter_process(const Command& command, bool direct, std::vector<Argument> positional);

  std::vector<std::unique_ptr<Script>> x_scripts;
};

} // namespace hpcml::shell
