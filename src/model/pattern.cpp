// SPDX-License-Identifier: MIT
#include "model/pattern.hpp"

#include <bitset>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <string_view>
#include <vector>

namespace hpcml::model {

namespace {

constexpr std::size_t k_longest_pattern = 200;
constexpr std::size_t k_longest_text = 512;

std::optional<std::regex> compile(const std::string& pattern) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

/// Whether the pattern asks for other first letters than the text has: most names are told apart without compiling anything.
bool begins_otherwise(const std::string& text, const std::string& pattern) {
  if (pattern.find('|') != std::string::npos) return false;
  std::size_t letters = 0;
  while (letters < pattern.size() && (std::isalnum(static_cast<unsigned char>(pattern[letters])) != 0 || pattern[letters] == '-')) ++letters;
  // What follows may say that the last letter is optional.
  if (letters > 0 && letters < pattern.size() && std::string_view("*?{").find(pattern[letters]) != std::string_view::npos) --letters;
  return text.compare(0, letters, pattern, 0, letters) != 0;
}

/// A set of letters, once or as often as said.
struct Piece {
  std::bitset<256> letters;
  bool may_miss = false;
  bool may_repeat = false;
};

/// Reads the letters of one piece from `at` on; false for all but a plain letter, a dot, \d, \. and a class of letters and ranges.
bool read_letters(std::string_view pattern, std::size_t& at, std::bitset<256>& letters) {
  const auto add_range = [&](unsigned char first, unsigned char last) {
    for (unsigned letter = first; letter <= last; ++letter) letters.set(letter);
  };
  const auto is_alnum = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const char c = pattern[at++];
  if (c == '.') {
    letters.set();
    letters.reset('\n').reset('\r');
  } else if (c == '\\') {
    if (at == pattern.size() || (pattern[at] != 'd' && pattern[at] != '.')) return false;
    if (pattern[at++] == 'd') add_range('0', '9');
    else letters.set('.');
  } else if (c == '[') {
    for (; at < pattern.size() && pattern[at] != ']'; ++at) {
      const bool range = at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']';
      if (!is_alnum(pattern[at]) && (range || std::string_view("_-.,/+@%=").find(pattern[at]) == std::string_view::npos)) return false;
      if (range && (!is_alnum(pattern[at + 2]) || pattern[at] > pattern[at + 2])) return false;
      add_range(static_cast<unsigned char>(pattern[at]), static_cast<unsigned char>(range ? pattern[at + 2] : pattern[at]));
      if (range) at += 2;
    }
    if (at++ == pattern.size() || letters.none()) return false;
  } else if (is_alnum(c) || c == '-' || c == '_') {
    letters.set(static_cast<unsigned char>(c));
  } else {
    return false;
  }
  return true;
}

/// The pieces of a pattern that has no groups, counts and alternatives, as most have none; nothing for any other.
std::optional<std::vector<Piece>> read_pieces(std::string_view pattern) {
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  if (pattern.ends_with('$') && !pattern.ends_with("\\$")) pattern.remove_suffix(1);
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < pattern.size();) {
    Piece piece;
    if (!read_letters(pattern, at, piece.letters)) return std::nullopt;
    const char often = at < pattern.size() ? pattern[at] : '\0';
    if (often == '+') pieces.push_back(piece);
    piece.may_repeat = often == '+' || often == '*';
    piece.may_miss = piece.may_repeat || often == '?';
    if (piece.may_miss) ++at;
    pieces.push_back(piece);
  }
  return pieces;
}

/// Goes through the text once, with all places in the pattern where it may stand.
bool match_pieces(std::string_view text, const std::vector<Piece>& pieces) {
  std::vector<bool> places(pieces.size() + 1), next;
  places[0] = true;
  const auto skip = [&](std::vector<bool>& reached) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (reached[i] && pieces[i].may_miss) reached[i + 1] = true;
  };
  skip(places);
  for (const char c : text) {
    next.assign(pieces.size() + 1, false);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (places[i] && pieces[i].letters.test(static_cast<unsigned char>(c))) next[pieces[i].may_repeat ? i : i + 1] = true;
    skip(next);
    places.swap(next);
  }
  return places.back();
}

} // namespace

util::Status check_pattern(const std::string& pattern) {
  if (pattern.size() > k_longest_pattern) return util::Error{"a regular expression here has at most 200 characters"};
  if (!compile(pattern)) return util::Error{"\"" + pattern + "\" is not a regular expression", "ECMAScript syntax, as in JavaScript"};
  return util::Done{};
}

bool matches_pattern(const std::string& text, const std::string& pattern) {
  if (text.size() > k_longest_text || pattern.size() > k_longest_pattern || begins_otherwise(text, pattern)) return false;
  // Compiling an expression of the library takes as long as a tenth of all that writes a script.
  if (const auto pieces = read_pieces(pattern)) return match_pieces(text, *pieces);
  // Checks of many scripts ask for the same few patterns again and again.
  static constexpr std::size_t k_most_kept = 64;
  thread_local std::map<std::string, std::optional<std::regex>> kept;
  if (kept.size() > k_most_kept) kept.clear();
  auto found = kept.find(pattern);
  if (found == kept.end()) found = kept.emplace(pattern, compile(pattern)).first;
  return found->second && std::regex_match(text, *found->second);
}

} // namespace hpcml::model
