// SPDX-License-Identifier: MIT
#include "core/topo/svg_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/util/text.hpp"

namespace hpcml::topo {

void SvgFragment::add(const SvgFragment& inner, int x, int y) {
  body += "<g transform=\"translate(" + std::to_string(x) + "," + std::to_string(y) + ")\">\n" + inner.body +
          "</g>\n";
}

std::string colour_of(unsigned rank) {
  const double hue = rank * 137 % 360 / 60.0, chroma = 0.48, low = 0.44;
  const double second = chroma * (1 - std::fabs((hue - 2 * static_cast<int>(hue / 2)) - 1));
  double red = 0, green = 0, blue = 0;
  if (hue < 1)
    red = chroma, green = second;
  else if (hue < 2)
    red = second, green = chroma;
  else if (hue < 3)
    green = chroma, blue = second;
  else if (hue < 4)
    green = second, blue = chroma;
  else if (hue < 5)
    red = second, blue = chroma;
  else
    red = chroma, blue = second;
  const auto byte = [&](double part) { return static_cast<unsigned>((part + low) * 255); };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", byte(red), byte(green), byte(blue));
  return text;
}

std::string escape(const std::string& text) {
  return util::replace_all(util::replace_all(util::replace_all(text, "&", "&amp;"), "<", "&lt;"), "\"",
                           "&quot;");
}

std::string rect(int x, int y, int width, int height, const std::string& more) {
  char text[128];
  std::snprintf(text, sizeof text, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" ", x, y,
                width, height);
  return text + more + "/>\n";
}

std::string label(int x, int y, const std::string& text, const char* kind) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" class=\"" + kind + "\">" +
         escape(text) + "</text>\n";
}

int width_of(const std::string& text) { return 13 * static_cast<int>(text.size()) / 2; }

SvgFragment frame(const std::string& title, const SvgFragment& inner) {
  SvgFragment box;
  box.width = std::max(inner.width, width_of(title)) + 2 * k_pad;
  box.height = inner.height + k_pad + k_head;
  box.body = rect(0, 0, box.width, box.height, "class=\"box\"") + label(k_pad, 13, title, "dim");
  box.add(inner, k_pad, k_head);
  return box;
}

SvgFragment row(const std::vector<SvgFragment>& boxes) {
  SvgFragment all;
  int widest = 1;
  for (const SvgFragment& box : boxes) widest = std::max(widest, box.width + k_pad);
  const std::size_t fit = std::max<std::size_t>(1, static_cast<std::size_t>((k_page + k_pad) / widest));
  const std::size_t rows = (boxes.size() + fit - 1) / fit;
  const std::size_t columns = rows > 0 ? (boxes.size() + rows - 1) / rows : 1;
  int x = 0, y = 0, tallest = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (i > 0 && i % columns == 0) {
      y += tallest + k_pad;
      x = tallest = 0;
    }
    all.add(boxes[i], x, y);
    x += boxes[i].width + k_pad;
    tallest = std::max(tallest, boxes[i].height);
    all.width = std::max(all.width, x - k_pad);
  }
  all.height = y + tallest;
  return all;
}

SvgFragment column(const std::vector<SvgFragment>& boxes) {
  SvgFragment all;
  for (const SvgFragment& box : boxes) {
    const int y = all.height + (all.height > 0 ? k_pad : 0);
    all.add(box, 0, y);
    all.width = std::max(all.width, box.width);
    all.height = y + box.height;
  }
  return all;
}

} // namespace hpcml::topo
