// SPDX-License-Identifier: MIT
// Membership of characters, as one look in a table.
#pragma once

#include <array>
#include <string_view>

namespace hpcml::util {

/// The characters of a text as a set.
class CharSet {
public:
  constexpr explicit CharSet(std::string_view characters) {
    for (const char c : characters) x_in[static_cast<unsigned char>(c)] = true;
  }
  constexpr bool has(char c) const { return x_in[static_cast<unsigned char>(c)]; }

private:
  std::array<bool, 256> x_in{};
};

} // namespace hpcml::util
