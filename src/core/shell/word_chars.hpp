// SPDX-License-Identifier: MIT
// The characters that end a word of a script.
#pragma once

#include "core/util/char_set.hpp"

namespace hpcml::shell {

inline constexpr util::CharSet k_meta(" \t\n;&|()<>");
constexpr bool is_meta(char c) { return k_meta.has(c); }

} // namespace hpcml::shell
