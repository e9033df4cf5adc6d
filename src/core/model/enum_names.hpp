// SPDX-License-Identifier: MIT
// Closed sets by their words: one table next to each enum, read by profiles, job files, flags and messages
// alike.
#pragma once

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"
#include "core/util/text.hpp"

namespace hpcml::model {

/// One word of a closed set and what it stands for.
template <class E> struct NamedValue {
  std::string_view text;
  E value;
};

/// The words of a closed set: an array that each enum with words specialises. A value that has no word means
/// "not known".
template <class E> inline constexpr std::nullptr_t k_words = nullptr;

/// The word for a value; empty for one that has none.
template <class E> std::string word_of(E value) {
  for (const auto& word : k_words<E>)
    if (word.value == value) return std::string(word.text);
  return {};
}

/// What a word stands for; nothing if it is not in the set.
template <class E> std::optional<E> find_word(std::string_view text) {
  for (const auto& word : k_words<E>)
    if (word.text == text) return word.value;
  return std::nullopt;
}

/// All words of a set, in the table's order.
template <class E> std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (const auto& word : k_words<E>) words.emplace_back(word.text);
  return words;
}

/// What a word stands for, or an error with the nearest word and all of them.
template <class E> util::Result<E> parse_word(std::string_view text) {
  if (const auto found = find_word<E>(text)) return *found;
  return util::Error{fmt::format("the value \"{}\" is not one of the accepted values", text),
                     util::choice_hint(std::string(text), words_of<E>())};
}

/// A number as decimal text, made by the compiler.
template <unsigned Number> struct DecimalText {
  static constexpr std::size_t size = [] {
    std::size_t digits = 1;
    for (unsigned rest = Number; rest >= 10; rest /= 10) ++digits;
    return digits;
  }();
  static constexpr auto chars = [] {
    std::array<char, size> digits = {};
    unsigned rest = Number;
    for (std::size_t i = size; i-- > 0; rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
    return digits;
  }();
  static constexpr std::string_view text{chars.data(), chars.size()};
};

/// Texts put together by the compiler; each is its own constant.
template <const std::string_view&... Parts> struct ConcatenatedText {
  static constexpr auto chars = [] {
    std::array<char, (Parts.size() + ... + 0)> text = {};
    auto at = text.begin();
    ((at = std::copy(Parts.begin(), Parts.end(), at)), ...);
    return text;
  }();
  static constexpr std::string_view text{chars.data(), chars.size()};
};

/// Names for users, put together by the compiler: "a, b or c".
template <const auto& Names> struct NameListText {
  static constexpr std::string_view between(std::size_t at) {
    return at == 0 ? "" : at + 1 < Names.size() ? ", " : " or ";
  }
  static constexpr auto chars = [] {
    constexpr auto c_size = [] {
      std::size_t size = 0;
      for (std::size_t i = 0; i < Names.size(); ++i) size += between(i).size() + Names[i].size();
      return size;
    }();
    std::array<char, c_size> text = {};
    auto at = text.begin();
    for (std::size_t i = 0; i < Names.size(); ++i) {
      const auto comma = between(i);
      at = std::copy(comma.begin(), comma.end(), at);
      at = std::copy(Names[i].begin(), Names[i].end(), at);
    }
    return text;
  }();
  static constexpr std::string_view text{chars.data(), chars.size()};
};

} // namespace hpcml::model
