// SPDX-License-Identifier: MIT
// What is known of words and variables at a point of a script.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/shell/syntax.hpp"

namespace hpcml::shell {

/// What a part that is not known most likely is; none: not known either.
using FallbackText = std::shared_ptr<const std::string>;

/// Known text, or, where !known, what keeps it from being known as it is written: "$SLURM_JOB_ID",
/// "$(hostname)", "*.py".
struct ArgumentPiece {
  bool known = true;
  std::string text;
  TextRange place;
  FallbackText fallback = {}; ///< "python" of "${PYTHON:-python}"
};

/// One word as the program will get it.
struct Argument {
  std::vector<ArgumentPiece> pieces;
  bool many = false; ///< may become no word or several
  bool caveat =
      false; ///< as long as what ran in between (a sourced file, `module`, `eval`) left the variable alone
  TextRange place;

  bool known() const;
  /// The word; what is not known is in it as it was written.
  std::string text() const;
  /// The known text before what is not known; all of it where everything is.
  std::string prefix() const;
  /// The path of the program that it most likely names: "/bin/python" of "$HOME/bin/python", "python" of
  /// "${PYTHON:-python}".
  std::optional<std::string> program() const;
  /// What is not known in it, empty if nothing.
  std::string unknown() const;
};

/// What a variable holds, as far as it is known.
struct Value {
  enum class Kind : std::uint8_t { unset, scalar, array, unknown };
  Kind kind = Kind::unknown;
  std::vector<Argument> words = {}; ///< one where scalar
};

bool same(const Argument& a, const Argument& b);
bool same(const Value& a, const Value& b);

/// A variable with what is known of it.
struct Variable {
  std::string name;
  Value value;
  bool exported = false;
  bool on_all_paths = true; ///< `exported` does not depend on a condition
  bool readonly = false;
  bool array = false;      ///< is or may be an array: `NAME=x` sets its first element only
  bool attributes = false; ///< integer, lower case, reference, …: what is assigned is not what comes out
  unsigned changes = 0;    ///< ShellState::changes when it was set
  TextRange set_at;
};

using VariableRef = std::shared_ptr<const Variable>;
/// In the order of their names.
using Exports = std::vector<VariableRef>;

Value scalar_value(Argument word);
Argument known_argument(std::string text, TextRange place);
Argument unknown_argument(std::string reason, TextRange place, bool many);

} // namespace hpcml::shell
