// SPDX-License-Identifier: MIT
// The part of the shell's expansion that a launcher can do without a shell.
#include <cctype>

#include "run/resolve/rank_setup.hpp"

namespace hpcml::launch {

namespace {

std::size_t name_length(const std::string& text, std::size_t at) {
  std::size_t length = 0;
  while (at + length < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at + length])) != 0 || text[at + length] == '_'))
    ++length;
  return length > 0 && std::isdigit(static_cast<unsigned char>(text[at])) != 0 ? 0 : length;
}

/// A variable in a text, with what replaces it if it is not set.
struct Reference {
  std::string name, fallback;
  std::size_t end = 0; ///< position after it
};

/// Reads $NAME, ${NAME} or ${NAME:-word} at the dollar at `at`; nothing if it is another operator.
std::optional<Reference> read_reference(const std::string& text, std::size_t at) {
  const bool braces = at + 1 < text.size() && text[at + 1] == '{';
  const std::size_t start = at + (braces ? 2 : 1);
  const std::size_t length = name_length(text, start);
  if (length == 0) return std::nullopt;
  Reference reference{text.substr(start, length), {}, start + length};
  if (!braces) return reference;
  const auto close = text.find('}', reference.end);
  if (close == std::string::npos) return std::nullopt;
  const std::string rest = text.substr(reference.end, close - reference.end);
  if (!rest.empty() && (!rest.starts_with(":-") || rest.find_first_of("$`\\\"'{") != std::string::npos))
    return std::nullopt;
  if (!rest.empty()) reference.fallback = rest.substr(2);
  reference.end = close + 1;
  return reference;
}

} // namespace

std::optional<std::string> expand_variables(const std::string& text, const util::EnvSnapshot& env) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '`' || c == '\\' || c == '\'' || c == '"') return std::nullopt;
    if (c != '$') {
      out += c;
      ++at;
      continue;
    }
    const auto reference = read_reference(text, at);
    if (!reference) return std::nullopt;
    out += env.get_or(reference->name, reference->fallback);
    at = reference->end;
  }
  return out;
}

} // namespace hpcml::launch
