// SPDX-License-Identifier: MIT
// Messages as one text with places for values. LibTorch's wheels bring another fmt, so that this library and
// the helper use neither fmt nor spdlog. C++17, no dependency.
#pragma once

#include <array>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

namespace hpcml::ddp {

namespace message {

inline std::string text_of(const std::string& text) { return text; }
inline std::string text_of(const char* text) { return text; }
template <class Number> std::string text_of(const Number& number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

} // namespace message

/// Returns `form` with each "{}" replaced by the next value: a text or a number. Places without a value are
/// empty, and values without a place are ignored.
template <class... Values> std::string format_message(std::string_view form, const Values&... values) {
  const std::array<std::string, sizeof...(values)> texts = {message::text_of(values)...};
  std::string text;
  std::size_t next = 0;
  for (auto place = form.find("{}"); place != std::string_view::npos; place = form.find("{}")) {
    text += form.substr(0, place);
    if (next < texts.size()) text += texts[next++];
    form.remove_prefix(place + 2);
  }
  return text.append(form);
}

} // namespace hpcml::ddp
