// SPDX-License-Identifier: MIT
#include "core/model/plain_pattern.hpp"

#include <algorithm>
#include <bitset>
#include <vector>

namespace hpcml::model {

namespace {

using Bytes = std::bitset<256>;
/// Of each position in the text whether what has been read of the pattern can end there.
using Places = std::vector<bool>;

constexpr std::size_t k_no_end = static_cast<std::size_t>(-1);

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_in(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

/// Reads a pattern and matches the text at once: all places to which it can lead move on together, so that no
/// pattern takes long. What it cannot read makes it fail for good.
class Matcher {
public:
  Matcher(std::string_view text, std::string_view pattern) : x_text(text), x_left(pattern) {}

  std::optional<bool> match() {
    Places begin(x_text.size() + 1);
    begin[0] = true;
    const auto ends = read_alternatives(begin, false);
    if (!x_plain || !x_left.empty()) return std::nullopt;
    return ends.back();
  }

private:
  bool next_is(char c) const { return !x_left.empty() && x_left.front() == c; }
  bool take(char c) {
    if (!next_is(c)) return false;
    x_left.remove_prefix(1);
    return true;
  }

  Places read_alternatives(const Places& from, bool in_group) {
    Places all(from.size());
    do {
      const auto ends = read_sequence(from, in_group);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] || ends[i];
    } while (x_plain && take('|'));
    return all;
  }

  Places read_sequence(Places places, bool in_group) {
    // The whole text is matched: at the ends of an alternative of the whole pattern these say nothing.
    if (!in_group) take('^');
    while (x_plain && !x_left.empty() && !next_is('|') && !(in_group && next_is(')'))) {
      if (!in_group && x_left.front() == '$' && (x_left.size() == 1 || x_left[1] == '|')) {
        x_left.remove_prefix(1);
        break;
      }
      places = take('(') ? read_group(places) : read_repeated(places);
    }
    return places;
  }

  Places read_group(const Places& from) {
    if (next_is('?')) x_plain = false;
    auto ends = read_alternatives(from, true);
    if (!take(')')) x_plain = false;
    if (take('?'))
      for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = ends[i] || from[i];
    if (!x_left.empty() && is_in(x_left.front(), "*+?{")) x_plain = false;
    return ends;
  }

  Places read_repeated(const Places& from) {
    const auto atom = read_bytes();
    std::size_t least = 1, most = 1;
    read_count(least, most);
    Places ends(from.size());
    if (!x_plain) return ends;
    for (std::size_t begin = 0; begin < from.size(); ++begin) {
      if (!from[begin]) continue;
      std::size_t length = 0;
      for (;; ++length) {
        if (length >= least) ends[begin + length] = true;
        if (length == most || begin + length == x_text.size() || !atom[byte_of(x_text[begin + length])])
          break;
      }
    }
    return ends;
  }

  std::size_t read_number() {
    std::size_t number = 0;
    if (x_left.empty() || !is_decimal(x_left.front())) x_plain = false;
    while (!x_left.empty() && is_decimal(x_left.front())) {
      number = std::min<std::size_t>(number * 10 + static_cast<std::size_t>(x_left.front() - '0'), 100000);
      x_left.remove_prefix(1);
    }
    return number;
  }

  void read_count(std::size_t& least, std::size_t& most) {
    if (take('*')) {
      least = 0;
      most = k_no_end;
    } else if (take('+')) {
      most = k_no_end;
    } else if (take('?')) {
      least = 0;
    } else if (take('{')) {
      least = most = read_number();
      if (take(',')) most = next_is('}') ? k_no_end : read_number();
      if (!take('}') || most < least) x_plain = false;
    }
    if (!x_left.empty() && is_in(x_left.front(), "*+?{")) x_plain = false;
  }

  Bytes read_bytes() {
    Bytes bytes;
    const char c = x_left.front();
    x_left.remove_prefix(1);
    if (c == '[') return read_class();
    if (c == '.') return bytes.set().reset('\n').reset('\r');
    if (c == '\\') return read_escape();
    if (is_in(c, "^$*+?(){}]") || byte_of(c) > 127) x_plain = false;
    return bytes.set(byte_of(c));
  }

  Bytes read_escape() {
    Bytes bytes;
    const char c = x_left.empty() ? 'x' : x_left.front();
    if (!x_left.empty()) x_left.remove_prefix(1);
    if (c == 'd') {
      for (char digit = '0'; digit <= '9'; ++digit) bytes.set(byte_of(digit));
    } else {
      if (is_letter(c) || is_decimal(c) || byte_of(c) > 127) x_plain = false;
      bytes.set(byte_of(c));
    }
    return bytes;
  }

  /// "[a-z0-9_]" after its bracket.
  Bytes read_class() {
    Bytes bytes;
    const bool others = take('^');
    const auto end = x_left.find(']');
    if (end == std::string_view::npos || end == 0) x_plain = false;
    const auto inner = x_left.substr(0, x_plain ? end : 0);
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const bool range = i + 2 < inner.size() && inner[i + 1] == '-';
      const char last = range ? inner[i + 2] : inner[i];
      if (is_in(inner[i], "[\\") || is_in(last, "[\\") || last < inner[i] || byte_of(inner[i]) > 127 ||
          byte_of(last) > 127 || (range && (inner[i] == '-' || last == '-')) ||
          (inner[i] == '-' && i > 0 && i + 1 < inner.size()))
        x_plain = false;
      for (unsigned byte = byte_of(inner[i]); byte <= byte_of(last); ++byte) bytes.set(byte);
      if (range) i += 2;
    }
    x_left.remove_prefix(std::min(x_left.size(), inner.size() + 1));
    return others ? bytes.flip() : bytes;
  }

  std::string_view x_text;
  std::string_view x_left; ///< of the pattern
  bool x_plain = true;
};

} // namespace

std::optional<bool> match_plain_pattern(std::string_view text, std::string_view pattern) {
  return Matcher(text, pattern).match();
}

} // namespace hpcml::model
