// SPDX-License-Identifier: MIT
// Where a script sets a variable, adds words to it and reads it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/shell/syntax.hpp"

namespace hpcml::import_script {

/// An assignment of a whole value, after which commands of the same list read the variable.
struct FirstValue {
  const shell::Assignment* assignment = nullptr;
  const shell::SyntaxNode* list = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0; ///< of the list, or the next assignment of a whole value in it
  bool in_function = false;
};

/// A place that reads the variable.
struct VariableRead {
  const shell::WordPart* part = nullptr;
  const shell::Word* word = nullptr;
  bool is_whole = false; ///< its value is not split: in an assignment, a test, the name of a file
  bool in_function = false;
  bool is_printed = false;   ///< by echo or printf
  bool is_evaluated = false; ///< by eval
};

/// All that a script does with one variable.
struct VariableUses {
  std::vector<FirstValue> values;
  std::vector<diag::TextRange> additions; ///< `V="$V …"` and `V+=…`
  std::vector<VariableRead> reads;
  std::size_t own_reads = 0; ///< `$V` in `V="$V …"`
  std::size_t last_set = 0;  ///< the last place that sets it in any way
  bool is_set_in_function = false;
  bool is_array = false;
  bool is_extended = false; ///< a condition makes additions
  bool is_unclear = false;  ///< it is also set or read in another way

  /// Whether each read and each addition follows the only value that may be read there.
  bool is_orderly() const;
  /// Whether eval reads it.
  bool is_evaluated() const;
};

/// Returns what the script does with its variables, by their names. `text` is the script.
std::map<std::string, VariableUses> find_variable_uses(const shell::SyntaxNode& program,
                                                       std::string_view text);

} // namespace hpcml::import_script
