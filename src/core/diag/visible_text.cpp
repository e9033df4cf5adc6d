// SPDX-License-Identifier: MIT
#include "core/diag/visible_text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "hpcml/json_string.hpp"

namespace hpcml::diag {

namespace {

struct Range {
  char32_t first;
  char32_t last;
  bool holds(char32_t c) const { return c >= first && c <= last; }
};

template <std::size_t N> bool in(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](const Range& range) { return range.holds(c); });
}

/// Controls, invisible characters, and those that change the direction of what follows.
bool is_hidden(char32_t c) {
  constexpr std::array<Range, 13> k_ranges = {{{0, 0x1f},
                                               {0x7f, 0x9f},
                                               {0xad, 0xad},
                                               {0x61c, 0x61c},
                                               {0x115f, 0x1160},
                                               {0x180e, 0x180e},
                                               {0x200b, 0x200f},
                                               {0x2028, 0x202e},
                                               {0x2060, 0x206f},
                                               {0x3164, 0x3164},
                                               {0xfeff, 0xfeff},
                                               {0xfff9, 0xfffb},
                                               {0xe0000, 0xe007f}}};
  return in(k_ranges, c);
}

/// As Unicode's East Asian Width has it, roughly: enough for a caret.
unsigned width_of(char32_t c) {
  constexpr std::array<Range, 7> k_none = {{{0x300, 0x36f},
                                            {0x483, 0x489},
                                            {0x1ab0, 0x1aff},
                                            {0x1dc0, 0x1dff},
                                            {0x20d0, 0x20ff},
                                            {0xfe00, 0xfe0f},
                                            {0xfe20, 0xfe2f}}};
  constexpr std::array<Range, 11> k_wide = {{{0x1100, 0x115f},
                                             {0x2e80, 0x303e},
                                             {0x3041, 0x33ff},
                                             {0x3400, 0x4dbf},
                                             {0x4e00, 0x9fff},
                                             {0xa000, 0xa4cf},
                                             {0xac00, 0xd7a3},
                                             {0xf900, 0xfaff},
                                             {0xff00, 0xff60},
                                             {0x1f300, 0x1faff},
                                             {0x20000, 0x3fffd}}};
  return in(k_none, c) ? 0 : in(k_wide, c) ? 2 : 1;
}

/// Decodes one character of UTF-8; length 0 where the bytes are none.
std::pair<char32_t, std::size_t> decode(std::string_view text) {
  const std::size_t length = utf8_length(text);
  if (length <= 1) return {static_cast<unsigned char>(text[0]), length};
  char32_t c = static_cast<unsigned char>(text[0]) & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) c = (c << 6U) | (static_cast<unsigned char>(text[i]) & 0x3fU);
  return {c, length};
}

/// Is shown unchanged, in one column.
bool is_plain(char c) { return c >= ' ' && c <= '~'; }

} // namespace

VisibleChar first_visible(std::string_view text) {
  if (is_plain(text[0])) return {1, std::string(1, text[0]), 1};
  const auto [c, length] = decode(text);
  VisibleChar visible;
  visible.length = std::max<std::size_t>(length, 1);
  if (length == 0)
    visible.shown = fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
  else if (c == '\n')
    visible.shown = "\\n";
  else if (c == '\t')
    visible.shown = "\\t";
  else if (c == '\r')
    visible.shown = "\\r";
  else if (is_hidden(c))
    visible.shown = c < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                             : fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c));
  else {
    visible.shown = std::string(text.substr(0, length));
    visible.width = width_of(c);
    return visible;
  }
  visible.width = static_cast<unsigned>(visible.shown.size());
  return visible;
}

std::string visible_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto visible = first_visible(text);
    out += visible.shown;
    text.remove_prefix(visible.length);
  }
  return out;
}

} // namespace hpcml::diag
