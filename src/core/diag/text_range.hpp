// SPDX-License-Identifier: MIT
// Where something is in a text. Lines and columns are made of it once, where a report is written.
#pragma once

#include <cstddef>

namespace hpcml::diag {

/// Bytes of a text; length 0: nowhere in it, as for a value that came from elsewhere.
struct TextRange {
  std::size_t offset = 0;
  std::size_t length = 0;
};

} // namespace hpcml::diag
