// SPDX-License-Identifier: MIT
#include "core/util/visible.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace hpcml::util {

namespace {

/// The code point at the start of `text` and its length in bytes; length 0 where there is no UTF-8.
std::pair<char32_t, std::size_t> decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {0, 0};
  char32_t point = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    point = point << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return {0, 0};
  return {point, length};
}

/// Characters that no terminal shows, but obeys.
bool is_command(char32_t point) {
  return (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7f && point < 0xa0) ||
         point == 0x61c || point == 0x200e || point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0xfeff;
}

} // namespace

std::string visible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [point, length] = decode_utf8(text);
    const std::size_t taken = std::max<std::size_t>(1, length);
    char shown[16];
    if (length == 0 || is_command(point)) {
      const auto value = length == 0 ? static_cast<unsigned char>(text[0]) : static_cast<unsigned>(point);
      std::snprintf(shown, sizeof shown, value < 0x100 ? "\\x%02x" : "\\u%04x", value);
      out += shown;
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

} // namespace hpcml::util
