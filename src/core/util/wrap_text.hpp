// SPDX-License-Identifier: MIT
// Text in lines of limited width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::util {

/// A space at which no line is broken.
constexpr char k_unbreakable_space = '\x1f';

/// Number of characters of a text in UTF-8.
std::size_t text_width(std::string_view text);
/// The words in lines of at most `columns`, of which a longer word is the only exception.
std::vector<std::string> wrap_text(std::string_view text, std::size_t columns);

} // namespace hpcml::util
