// SPDX-License-Identifier: MIT
// Words that differ by one typo.
#pragma once

#include <string_view>

namespace hpcml::check {

/// True if one typo, or none, makes one word of the other: a letter too many or missing, another one, or two
/// swapped.
bool is_single_typo(std::string_view a, std::string_view b);

} // namespace hpcml::check
