// SPDX-License-Identifier: MIT
// Boxes, labels and colours of a drawing.
#pragma once

#include <string>
#include <vector>

namespace hpcml::topo {

/// All lengths in pixels. Between boxes, inside a box, and of its title.
constexpr int k_gap = 4, k_pad = 10, k_head = 18;
constexpr int k_page = 380; ///< width of a page, as on a phone: wider boxes are placed below each other

/// A piece of a drawing with its size.
struct SvgFragment {
  int width = 0, height = 0;
  std::string body;
  /// Draws another box at this place.
  void add(const SvgFragment& inner, int x, int y);
};

/// Hues far apart for neighbouring ranks, light enough for dark text; as #rrggbb, which every viewer knows.
std::string colour_of(unsigned rank);
/// The text as XML has it.
std::string escape(const std::string& text);
/// A rectangle; `more` are further attributes.
std::string rect(int x, int y, int width, int height, const std::string& more);
/// A text that begins there; `kind` is its class in the page's style.
std::string label(int x, int y, const std::string& text, const char* kind);
/// About how wide a label of this text is.
int width_of(const std::string& text);
/// A box around another one, with a title.
SvgFragment frame(const std::string& title, const SvgFragment& inner);
/// Returns boxes next to each other, in rows of equal numbers if the page is too narrow.
SvgFragment row(const std::vector<SvgFragment>& boxes);
/// Boxes below each other.
SvgFragment column(const std::vector<SvgFragment>& boxes);

} // namespace hpcml::topo
