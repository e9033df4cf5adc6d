// SPDX-License-Identifier: MIT
// A word of a script whose quotes may be closed and opened again: 'cd '"$DIR"' && ls'.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/diag/text_range.hpp"

namespace hpcml::import_script {

/// Which quote is open at each place of a word.
class QuotedWord {
public:
  QuotedWord(std::string_view script, diag::TextRange word)
      : x_script(script), x_begin(word.offset), x_end(std::size_t{word.offset} + word.length) {}

  std::size_t begin() const { return x_begin; }
  bool starts_quoted() const;
  /// The place after the word's text: of the quote that ends the word, or the word's end.
  std::size_t end_of_text() const;
  /// Returns the place, or that of the `\` that escapes the character there.
  std::size_t with_escape(std::size_t place) const;
  /// Returns the quote that is open at the place, empty if none is; nothing if the place is within another
  /// construct such as `$(…)` or `$'…'`, or if the word may have more than 64 of the latter.
  std::optional<std::string> open_at(std::size_t place) const;

private:
  std::string_view x_script;
  std::size_t x_begin, x_end;
};

} // namespace hpcml::import_script
