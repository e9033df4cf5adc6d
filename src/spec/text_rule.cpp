// SPDX-License-Identifier: MIT
// Which characters the texts of a profile may have.
#include <cctype>
#include <fmt/format.h>

#include "spec/object_reader.hpp"

namespace hpcml::spec {

namespace {

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_word_char(char c) { return is_name_char(c) || std::string_view("./:@%+=,-").find(c) != std::string_view::npos; }

/// The end of the $NAME or ${NAME} that begins at `at`, or npos.
std::size_t skip_reference(std::string_view text, std::size_t at) {
  ++at;
  const bool braces = at < text.size() && text[at] == '{';
  if (braces) ++at;
  if (at >= text.size() || !is_name_start(text[at])) return std::string_view::npos;
  while (at < text.size() && is_name_char(text[at])) ++at;
  if (!braces) return at;
  return at < text.size() && text[at] == '}' ? at + 1 : std::string_view::npos;
}

std::string expression_fault(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '$') {
      at = skip_reference(text, at);
      if (at == std::string_view::npos) return "has a $ that is not $NAME or ${NAME}: commands and other expansions are not allowed";
    } else if (is_word_char(text[at]) || text[at] == ' ') {
      ++at;
    } else {
      return fmt::format("has the character '{}': only words, blanks and $NAME are allowed", text[at]);
    }
  }
  return {};
}

} // namespace

std::string text_fault(std::string_view text, TextRule rule) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "has a control character (a line break, a tab, or the like)";
  }
  switch (rule) {
    case TextRule::line: return {};
    case TextRule::expression: return expression_fault(text);
    case TextRule::variable:
      if (text.empty() || !is_name_start(text.front())) return "is not a name of a variable";
      for (const char c : text) {
        if (!is_name_char(c)) return "is not a name of a variable";
      }
      return {};
    case TextRule::name:
      if (text.empty() || text.front() == '-') return "is not a name";
      for (const char c : text) {
        if (!is_name_char(c) && c != '.' && c != '-') return fmt::format("has the character '{}', which no name has", c);
      }
      return {};
    case TextRule::word:
      for (const char c : text) {
        if (!is_word_char(c)) return fmt::format("has the character '{}', which is not allowed here", c);
      }
      return {};
  }
  return {};
}

} // namespace hpcml::spec
