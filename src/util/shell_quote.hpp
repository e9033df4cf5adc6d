// SPDX-License-Identifier: MIT
// Quoting for POSIX shells.
#pragma once

#include <string>
#include <string_view>

namespace hpcml::util {

/// `word` so that a shell reads exactly this word: unchanged if it holds only safe characters, else in single quotes.
std::string shell_quote(std::string_view word);

} // namespace hpcml::util
