// SPDX-License-Identifier: MIT
// A text of unknown origin as a JSON string. C++17, header-only, no dependency: the core and the LibTorch
// side share it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace hpcml {

/// Length of the UTF-8 character that `text` starts with; 0 where its bytes are none.
inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return static_cast<unsigned>(static_cast<unsigned char>(text[at]));
  };
  if (text.empty()) return 0;
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  // Longer forms than need be, surrogates, numbers beyond the last character.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90))
    return 0;
  return length;
}

/// `text` in quotes with JSON's escapes; each byte that is not UTF-8 becomes U+FFFD.
inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    std::size_t plain = 0; // most texts are nothing else
    while (plain < text.size() && text[plain] >= 0x20 && text[plain] < 0x7f && text[plain] != '"' &&
           text[plain] != '\\')
      ++plain;
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += "\\ufffd";
    } else if (first == '"' || first == '\\') {
      out += '\\';
      out += text.front();
    } else if (first < 0x20 || first == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(first));
      out += code;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

} // namespace hpcml
