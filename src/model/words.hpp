// SPDX-License-Identifier: MIT
// Closed sets by their words: one table beside each enum, read by profiles, job files, flags and messages
// alike.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.hpp"
#include "util/text.hpp"

namespace hpcml::model {

/// One word of a closed set and what it stands for.
template <class E> struct Word {
  std::string_view text;
  E value;
};

/// The words of a closed set: an array that each enum with words specialises. A value without a word is "not
/// known".
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
  const auto words = words_of<E>();
  const auto near = util::nearest(std::string(text), words);
  return util::Error{"cannot be \"" + std::string(text) + "\"",
                     (near ? "did you mean \"" + *near + "\"? " : "") +
                         "it is one of: " + util::join(words, ", ")};
}

} // namespace hpcml::model
