// SPDX-License-Identifier: MIT
#include "core/util/dollar_template.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::util {

namespace {

/// The name after the dollar at the start of `text`, and how long "$name" or "${name}" is; 0: there is none.
std::pair<std::string_view, std::size_t> dollar_word(std::string_view text) {
  const bool braced = text.starts_with("${");
  const auto rest = text.substr(braced ? 2 : 1);
  if (rest.empty() || !is_name_start(rest.front())) return {{}, 0};
  const auto length =
      static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_name_char) - rest.begin());
  if (braced && (length == rest.size() || rest[length] != '}')) return {{}, 0};
  return {rest.substr(0, length), length + (braced ? 3 : 1)};
}

} // namespace

std::string fill_dollar_template(std::string_view text,
                                 const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string filled;
  while (!text.empty()) {
    const auto before = std::min(text.find('$'), text.size());
    filled += text.substr(0, before);
    text.remove_prefix(before);
    if (text.empty()) break;
    auto [name, length] = dollar_word(text);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&name = name](const auto& entry) { return entry.first == name; });
    if (length > 0 && value != values.end()) {
      filled += value->second;
    } else {
      filled += '$';
      length = text.starts_with("$$") ? 2 : 1;
    }
    text.remove_prefix(length);
  }
  return filled;
}

} // namespace hpcml::util
