// SPDX-License-Identifier: MIT
#include "core/shell/source.hpp"

#include <algorithm>

namespace hpcml::shell {

std::uint32_t SourceText::place_of(std::size_t offset) const {
  if (places.empty()) return base + static_cast<std::uint32_t>(offset);
  return places[std::min(offset, places.size() - 1)];
}

TextRange SourceText::place_of(std::size_t begin, std::size_t end) const {
  const auto first = place_of(begin);
  if (end <= begin) return {first, 0};
  const auto last = place_of(end - 1);
  return {first, last >= first ? last - first + 1 : 1};
}

const RuntimePlaceholder* SourceText::hole_at(std::size_t offset) const {
  const auto found =
      std::lower_bound(holes.begin(), holes.end(), offset,
                       [](const RuntimePlaceholder& h, std::size_t at) { return h.offset < at; });
  return found != holes.end() && found->offset == offset ? &*found : nullptr;
}

void SourceText::add(std::string_view more, TextRange from) {
  const bool same = more.size() == from.length;
  for (std::size_t i = 0; i < more.size(); ++i)
    places.push_back(static_cast<std::uint32_t>(from.offset + (same ? i : 0)));
  text += more;
}

void SourceText::add_hole(const std::string& reason, TextRange from) {
  holes.push_back({text.size(), reason});
  places.push_back(from.offset);
  text += k_hole;
}

SourceText make_source(std::string text) {
  if (text.find("\r\n") == std::string::npos) return {std::move(text)};
  SourceText source;
  source.text.reserve(text.size());
  source.places.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    source.text += text[i];
    source.places.push_back(static_cast<std::uint32_t>(i));
  }
  source.places.push_back(static_cast<std::uint32_t>(text.size()));
  return source;
}

} // namespace hpcml::shell
