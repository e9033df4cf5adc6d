// SPDX-License-Identifier: MIT
#include "generate/import_script/quoted_word.hpp"

#include "core/shell/script.hpp"

namespace hpcml::import_script {
namespace {

bool is_quote(char c) { return c == '\'' || c == '"'; }

/// Whether the shell reader finds the text complete.
bool is_complete(const std::string& text) {
  return shell::unread_parts(shell::read_script(text).program).empty();
}

} // namespace

bool QuotedWord::starts_quoted() const { return x_begin < x_end && is_quote(x_script[x_begin]); }

std::size_t QuotedWord::end_of_text() const {
  const auto last = x_end - 1;
  if (!is_quote(x_script[last])) return x_end;
  return open_at(last) == std::string(1, x_script[last]) ? last : x_end;
}

std::size_t QuotedWord::with_escape(std::size_t place) const {
  const auto before = x_script.substr(x_begin, place - x_begin);
  const auto escapes = before.size() - (before.find_last_not_of('\\') + 1); // npos + 1 is 0
  return escapes % 2 == 1 && open_at(place - 1) != "'" ? place - 1 : place;
}

std::optional<std::string> QuotedWord::open_at(std::size_t place) const {
  const auto text = std::string(x_script.substr(x_begin, place - x_begin));
  // Each place reads the word once, so their number is limited: an import takes linear time.
  constexpr unsigned k_most_places = 64;
  unsigned places = 0;
  for (auto at = text.find("$'"); at != std::string::npos; at = text.find("$'", at + 1))
    if (++places > k_most_places || is_complete(text.substr(0, at))) return std::nullopt;
  for (const std::string quote : {"", "'", "\""})
    if (is_complete(text + quote)) return quote;
  return std::nullopt;
}

} // namespace hpcml::import_script
