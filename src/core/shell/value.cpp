// SPDX-License-Identifier: MIT
#include "core/shell/value.hpp"

#include <algorithm>

namespace hpcml::shell {

bool Argument::known() const {
  return !many &&
         std::all_of(pieces.begin(), pieces.end(), [](const ArgumentPiece& piece) { return piece.known; });
}

std::string Argument::text() const {
  if (pieces.size() == 1) return pieces[0].text;
  std::string text;
  for (const auto& piece : pieces) text += piece.text;
  return text;
}

std::string Argument::prefix() const {
  std::string text;
  for (const auto& piece : pieces) {
    if (!piece.known) break;
    text += piece.text;
  }
  return text;
}

std::optional<std::string> Argument::program() const {
  if (known()) return text();
  if (pieces.empty()) return std::nullopt;
  const std::string_view last = pieces.back().text;
  if (pieces.back().known) {
    const auto slash = last.rfind('/');
    return slash + 1 < last.size() && slash != std::string_view::npos
               ? std::optional<std::string>(last.substr(slash))
               : std::nullopt;
  }
  if (pieces.size() > 1 || !pieces[0].fallback) return std::nullopt;
  const auto& fallback = *pieces[0].fallback;
  const bool names =
      !fallback.empty() && fallback[0] != '-' && fallback.find_first_of(" \t\n*?[") == std::string::npos;
  return names ? std::optional(fallback) : std::nullopt;
}

std::string Argument::unknown() const {
  for (const auto& piece : pieces)
    if (!piece.known) return piece.text;
  return "";
}

bool same(const Argument& a, const Argument& b) {
  return a.many == b.many && a.known() == b.known() && a.text() == b.text();
}

bool same(const Value& a, const Value& b) {
  return a.kind == b.kind && std::equal(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(),
                                        [](const Argument& x, const Argument& y) { return same(x, y); });
}

Value scalar_value(Argument word) {
  Value value{Value::Kind::scalar, {}};
  value.words.push_back(std::move(word));
  return value;
}

Argument known_argument(std::string text, TextRange place) {
  Argument word;
  word.place = place;
  word.pieces.push_back({true, std::move(text), place});
  return word;
}

Argument unknown_argument(std::string reason, TextRange place, bool many) {
  Argument word;
  word.place = place;
  word.many = many;
  word.pieces.push_back({false, std::move(reason), place});
  return word;
}

} // namespace hpcml::shell
