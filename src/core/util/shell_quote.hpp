// SPDX-License-Identifier: MIT
// Words and names of POSIX shells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::util {

/// `word` so that a shell reads exactly this word: unchanged if it holds only safe characters, else in single
/// quotes.
std::string shell_quote(std::string_view word);
/// The words as one line for a shell.
std::string shell_line(const std::vector<std::string>& words);
/// True if a shell can have a variable of this name: ASCII letters, digits and _, not starting with a digit.
bool is_variable_name(std::string_view name);

} // namespace hpcml::util
