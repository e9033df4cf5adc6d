// SPDX-License-Identifier: MIT
#include "generate/import_script/edited_text.hpp"

#include <algorithm>

namespace hpcml::import_script {
namespace {

/// The place before these edits; of an edit's own text its beginning.
std::size_t place_before(const std::vector<TextEdit>& edits, std::size_t offset) {
  std::size_t begin = 0; // of the unchanged text, after the edits
  std::size_t before = 0;
  for (const auto& edit : edits) {
    const auto edited = begin + (edit.begin - before);
    if (offset < edited) break;
    if (offset < edited + edit.text.size()) return edit.begin;
    begin = edited + edit.text.size();
    before = edit.end;
  }
  return before + (offset - begin);
}

} // namespace

void EditedText::apply(std::vector<TextEdit> edits) {
  std::sort(edits.begin(), edits.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
  std::string text;
  std::size_t at = 0;
  for (const auto& edit : edits) {
    text += x_text.substr(at, edit.begin - at) + edit.text;
    at = edit.end;
  }
  x_text = text + x_text.substr(at);
  x_rounds.push_back(std::move(edits));
}

diag::SourceLocation EditedText::location_at(const std::string& file, diag::TextRange place) const {
  if (place.length == 0) return x_lines.location_at(file, place);
  const auto begin = original_place(place.offset), end = original_place(place.offset + place.length);
  return x_lines.location_at(file, {begin, std::max<std::size_t>(end, begin + 1) - begin});
}

std::size_t EditedText::original_place(std::size_t offset) const {
  for (auto round = x_rounds.rbegin(); round != x_rounds.rend(); ++round)
    offset = place_before(*round, offset);
  return offset;
}

} // namespace hpcml::import_script
