// SPDX-License-Identifier: MIT
// Tests quickly that a word is not a name of a table: most differ in their first letter or length.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace hpcml::model {

/// The first letters of names with the lengths that go with each.
class NamePrefilter {
public:
  /// Of the rows' names, as `name_of` gives them; a row without one is none.
  template <class Rows, class NameOf> constexpr NamePrefilter(const Rows& rows, NameOf name_of) {
    for (const auto& row : rows)
      if (const std::string_view name = name_of(row); !name.empty()) x_lengths[letter(name)] |= length(name);
  }
  /// False only of what is not a row's name.
  constexpr bool may_have(std::string_view name) const {
    return !name.empty() && (x_lengths[letter(name)] & length(name)) != 0;
  }

private:
  static constexpr std::size_t letter(std::string_view name) { return static_cast<unsigned char>(name[0]); }
  static constexpr std::uint32_t length(std::string_view name) {
    return std::uint32_t{1} << std::min<std::size_t>(name.size(), 31);
  }
  std::array<std::uint32_t, 256> x_lengths = {};
};

} // namespace hpcml::model
