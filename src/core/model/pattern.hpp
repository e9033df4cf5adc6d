// SPDX-License-Identifier: MIT
// Regular expressions of profiles (ECMAScript).
#pragma once

#include <string>

#include "core/util/result.hpp"

namespace hpcml::model {

/// Done, or why `pattern` is not a regular expression that a profile may have: at most 200 characters.
util::Status check_pattern(const std::string& pattern);
/// True if the whole text matches a pattern that is none of the wrong ones. Texts of more than 512 characters
/// never match: the library's search takes a level of the stack for each.
bool matches_pattern(const std::string& text, const std::string& pattern);

} // namespace hpcml::model
