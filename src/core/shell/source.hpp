// SPDX-License-Identifier: MIT
// A text to be read, and where its bytes are in the file it came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/shell/syntax.hpp"

namespace hpcml::shell {

/// Is in a text for something that is not known; only the offsets in Source::holes count.
constexpr char k_hole = '\x01';

/// Something in a text that only the running shell knows.
struct RuntimePlaceholder {
  std::size_t offset = 0;
  std::string reason;
};

/// The text of a script, of a `bash -c` or of a here-document.
struct SourceText {
  std::string text;
  std::vector<std::uint32_t> places = {}; ///< per byte, and one for the end; empty: `base` plus the offset
  std::uint32_t base = 0;
  std::vector<RuntimePlaceholder> holes = {}; ///< in order

  std::uint32_t place_of(std::size_t offset) const;
  TextRange place_of(std::size_t begin, std::size_t end) const;
  const RuntimePlaceholder* hole_at(std::size_t offset) const;
  void add(std::string_view more, TextRange from);
  void add_hole(const std::string& reason, TextRange from);
};

/// The text with line ends as bash requires them; what was before a line feed keeps its place.
SourceText make_source(std::string text);

} // namespace hpcml::shell
