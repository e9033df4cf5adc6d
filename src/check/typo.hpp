// SPDX-License-Identifier: MIT
// Words that differ by one typo.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::check {

/// True if one typo, or none, makes one word of the other: a letter too many or missing, another one, or two
/// swapped.
bool is_single_typo(std::string_view a, std::string_view b);

/// The name among `names` that `word` was most likely meant to be: the same in other capitals, or with two
/// letters swapped, one too many or missing. Numbers and what is after a dash make other names.
std::optional<std::string> nearest_typo(const std::string& word, const std::vector<std::string>& names);

} // namespace hpcml::check
