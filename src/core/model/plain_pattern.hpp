// SPDX-License-Identifier: MIT
// Regular expressions of the kind that profiles have, without the library's: compiling one takes longer than
// all else that a plan needs.
#pragma once

#include <optional>
#include <string_view>

namespace hpcml::model {

/// Whether the whole text matches a pattern of characters, classes, ".", "\d", repetitions of one of these,
/// and alternatives, as ECMAScript has them; nothing where the pattern has more than that, or is none.
std::optional<bool> match_plain_pattern(std::string_view text, std::string_view pattern);

} // namespace hpcml::model
