// SPDX-License-Identifier: MIT
// Foreign text for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace hpcml::util {

/// The text as a terminal may be given it: control characters but newline and tab, those that change the
/// direction of writing, and bytes that are not UTF-8 as "\\x1b" or "\\u202e".
std::string visible(std::string_view text);

} // namespace hpcml::util
