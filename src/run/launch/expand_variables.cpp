// SPDX-License-Identifier: MIT
// The part of the shell's expansion that a launcher can do without a shell.
#include <cctype>

#include "run/launch/rank_setup.hpp"

namespace hpcml::launch {

namespace {

std::size_t name_length(const std::string& text, std::size_t at) {
  std::size_t length = 0;
  while (at + length < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at + length])) != 0 || text[at + length] == '_'))
    ++length;
  return length > 0 && std::isdigit(static_cast<unsigned char>(text[at])) != 0 ? 0 : length;
}

} // namespace

std::optional<std::string> expand_variables(const std::string& text, const util::EnvSnapshot& env) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '`' || c == '\\' || c == '\'' || c == '"') return std::nullopt;
    if (c != '$') {
      out += c;
      continue;
    }
    const bool braces = at + 1 < text.size() && text[at + 1] == '{';
    const std::size_t start = at + (braces ? 2 : 1);
    const std::size_t length = name_length(text, start);
    if (length == 0) return std::nullopt;
    const std::string name = text.substr(start, length);
    at = start + length - 1;
    std::string fallback;
    if (braces) {
      const auto close = text.find('}', start + length);
      if (close == std::string::npos) return std::nullopt;
      const std::string rest = text.substr(start + length, close - start - length);
      if (!rest.empty() && (!rest.starts_with(":-") || rest.find_first_of("$`\\\"'{") != std::string::npos))
        return std::nullopt;
      if (!rest.empty()) fallback = rest.substr(2);
      at = close;
    }
    out += env.get_or(name, fallback);
  }
  return out;
}

} // namespace hpcml::launch
