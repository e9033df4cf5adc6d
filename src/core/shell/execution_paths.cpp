// SPDX-License-Identifier: MIT
#include "core/shell/execution_paths.hpp"

namespace hpcml::shell {

/// False when the script takes more work than any that users write.
bool ExecutionPaths::use_budget(std::size_t cost) {
  if (x_budget > cost) {
    x_budget -= cost;
    return true;
  }
  x_budget = 0;
  x_listing.complete = false;
  return false;
}

void ExecutionPaths::obscure_state() {
  invalidate_state();
  use_budget(8 * x_state.variables->size());
  x_state.obscure_all();
}

void ExecutionPaths::on_both_paths(const std::function<void()>& body) {
  const auto before = x_state;
  const bool condition = x_context.condition;
  x_context.condition = true;
  body();
  x_context.condition = condition;
  join(x_state, before);
}

/// Only files survive a subshell.
void ExecutionPaths::in_subshell(const std::function<void()>& body) {
  auto outer = x_state;
  const bool subshell = x_context.subshell;
  x_context.subshell = true;
  std::vector<ShellState> lost; // break and return leave the subshell only
  x_loops.push_back(&lost);
  x_returns.push_back(&lost);
  body();
  x_loops.pop_back();
  x_returns.pop_back();
  x_context.subshell = subshell;
  outer.files = std::move(x_state.files);
  x_state = std::move(outer);
}

} // namespace hpcml::shell
