// SPDX-License-Identifier: MIT
// Rows of words as aligned columns, for users.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace hpcml::util {

/// Each row as a line, the columns as wide as their widest word (in characters of UTF-8) and two spaces
/// apart; no line ends in spaces. Columns are aligned left, those of `right` (counted from 0) to the right.
/// Rows may be of different length.
std::string render_columns(const std::vector<std::vector<std::string>>& rows,
                           const std::set<std::size_t>& right = {});

} // namespace hpcml::util
