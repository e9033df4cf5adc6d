// SPDX-License-Identifier: MIT
// What is known while a script is followed, and how paths through it join.
#pragma once

#include <functional>

#include "core/shell/script_commands.hpp"
#include "core/shell/shell_state.hpp"

namespace hpcml::shell {

/// The state of a script that is followed, on all paths at once.
class ExecutionPaths {
public:
  ExecutionPaths(const ExecutionPaths&) = delete;
  ExecutionPaths& operator=(const ExecutionPaths&) = delete;

protected:
  explicit ExecutionPaths(ScriptCommands& listing) : x_listing(listing) {}
  virtual ~ExecutionPaths() = default;

  virtual void walk(const SyntaxNode& node) = 0;
  virtual void walk_arithmetic(const std::string& text, TextRange place) = 0;
  void in_subshell(const std::function<void()>& body);
  void on_both_paths(const std::function<void()>& body);
  bool use_budget(std::size_t cost);
  /// Something unseen ran that rarely sets variables of a script: `module load`.
  void invalidate_state() { ++x_state.changes; }
  /// Something ran that cannot be read and may have set any variable: a sourced file.
  void obscure_state();

  ScriptCommands& x_listing;
  ShellState x_state;
  CommandContext x_context;
  std::vector<std::vector<ShellState>*> x_loops;   ///< where break and continue leave their states
  std::vector<std::vector<ShellState>*> x_returns; ///< where return leaves them
  int x_quiet = 0;                                 ///< while a loop is followed to see what it changes
  int x_depth = 0;

private:
  std::size_t x_budget = 20'000'000;
};

} // namespace hpcml::shell
