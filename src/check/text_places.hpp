// SPDX-License-Identifier: MIT
// Places in a text as editors and services count them: lines from 1, columns in UTF-16 code units from 1.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"

namespace hpcml::check {

/// A place as editors count: line and column from 1, the column in bytes.
struct EditorPlace {
  unsigned line = 1;
  unsigned column = 1;
};

/// The lines of one text, found once.
class TextPlaces {
public:
  explicit TextPlaces(std::string_view text);
  /// The byte's place; of one behind the end the end.
  EditorPlace at(std::size_t offset) const;
  /// The byte that a span of this text begins with.
  std::size_t offset_of(const diag::Span& span) const;

private:
  std::string_view x_text;
  std::vector<std::size_t> x_lines; ///< where each begins
};

} // namespace hpcml::check
