// SPDX-License-Identifier: MIT
// Variables, functions and files at one point of a script, on all paths that lead there.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "core/shell/copy_on_write.hpp"
#include "core/shell/source.hpp"
#include "core/shell/value.hpp"

namespace hpcml::shell {

/// What is known of a function at one place of the script.
struct FunctionState {
  const SyntaxNode* body = nullptr;
  bool exported = false;
  bool on_all_paths = true;
};

/// A script that a here-document wrote.
struct HereDocumentFile {
  std::shared_ptr<const SourceText> text;
  bool on_all_paths = true;
};

/// What a `break`, `return` or `exit` leaves; each includes those before it.
enum class ExitScope : std::uint8_t { nothing, loop, function, script };

/// What is known at one place of the script.
struct ShellState {
  CopyOnWrite<std::map<std::string, VariableRef, std::less<>>>
      variables; ///< what is not in here comes from outside
  CopyOnWrite<std::map<std::string, FunctionState, std::less<>>> functions;
  CopyOnWrite<std::map<std::string, HereDocumentFile, std::less<>>> files;
  std::vector<std::map<std::string, VariableRef>> frames; ///< per call: what `local` hid
  std::optional<std::vector<Argument>> positional;        ///< nothing: not known
  bool no_glob = false;
  bool export_all = false;
  bool errexit = false;
  bool pipefail = false;
  bool keeps_beginnings = false;          ///< as of list_commands()
  ExitScope ended = ExitScope::nothing;   ///< what nothing after this point runs in
  ExitScope guarded = ExitScope::nothing; ///< what an earlier condition may have left
  unsigned changes = 0;                   ///< how often something unseen may have set variables
  std::shared_ptr<const Exports> exports; ///< made when asked for

  const Variable* find(std::string_view name) const;
  /// Returns the stored variable.
  const VariableRef& set(Variable variable);
  /// Nothing is known of the variable any more.
  void forget(const std::string& name, TextRange where, bool array = false);
  void forget_all(TextRange where);
  /// Known values are unknown from here on, as something unseen may have set the variables; what is exported
  /// stays so.
  void obscure_all();
  std::shared_ptr<const Exports> snapshot();
};

/// The state after two paths join.
void join(ShellState& state, const ShellState& branch);
bool same(const ShellState& a, const ShellState& b);

} // namespace hpcml::shell
