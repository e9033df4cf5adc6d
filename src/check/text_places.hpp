// SPDX-License-Identifier: MIT
// Places in a text as editors and services count them: lines from 1, columns in UTF-16 code units from 1.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/diag/lines.hpp"

namespace hpcml::check {

/// A byte as editors count: line and column from 1, the column in UTF-16 code units.
struct EditorPlace {
  unsigned line = 1;
  unsigned column = 1;
};

/// The lines of one text, found once.
class TextPlaces {
public:
  explicit TextPlaces(std::string_view text);
  /// The byte's place; of one after the end the end.
  EditorPlace at(std::size_t offset) const;

private:
  std::string_view x_text;
  diag::Lines x_lines;
};

} // namespace hpcml::check
