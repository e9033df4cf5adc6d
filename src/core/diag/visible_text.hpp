// SPDX-License-Identifier: MIT
// Text of unknown origin for users' eyes: nothing in it moves the cursor, hides or turns the writing.
#pragma once

#include <string>
#include <string_view>

namespace hpcml::diag {

/// One character as it is shown: itself, or an escape for what cannot be seen.
struct VisibleChar {
  std::size_t length = 1; ///< bytes of the original
  std::string shown;      ///< "a", "é", "\x1b", "\u{202e}", "\xff" for a byte that is not an UTF-8
  unsigned width = 1;     ///< terminal columns of `shown`
};

/// The character at the start of `text`, which must not be empty. A tab is an escape as well.
VisibleChar first_visible(std::string_view text);
/// The whole text with escapes; a text that is one already comes back unchanged.
std::string visible_text(std::string_view text);

} // namespace hpcml::diag
