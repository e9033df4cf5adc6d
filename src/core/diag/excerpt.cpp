// SPDX-License-Identifier: MIT
#include "core/diag/excerpt.hpp"
#include "core/diag/line_table.hpp"

#include <algorithm>
#include <vector>

#include "core/diag/visible_text.hpp"

namespace hpcml::diag {

namespace {

// With the two spaces in front a line fits into 100 columns.
constexpr std::size_t k_widest = 98;
constexpr std::size_t k_before = 60; // columns kept before the caret in a line that is cut
constexpr unsigned k_tab = 8;
constexpr std::size_t k_bytes_around = 4096;

std::string_view line_of(std::string_view source, unsigned number) {
  for (unsigned line = 1; line < number; ++line) {
    const auto end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  auto line = source.substr(0, source.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// A shown character and the bytes it stands for.
struct Cell {
  std::size_t first_byte = 0;
  std::size_t end_byte = 0;
  std::string shown;
  std::size_t column = 0; ///< on the screen, from 0
  std::size_t width = 0;
};

std::vector<Cell> make_cells(std::string_view line) {
  std::vector<Cell> cells;
  std::size_t byte = 0;
  std::size_t column = 0;
  while (byte < line.size()) {
    auto visible = first_visible(line.substr(byte));
    if (line[byte] == '\t') {
      visible.width = k_tab - static_cast<unsigned>(column % k_tab);
      visible.shown = std::string(visible.width, ' ');
    }
    cells.push_back({byte, byte + visible.length, std::move(visible.shown), column, visible.width});
    byte += visible.length;
    column += visible.width;
  }
  return cells;
}

/// Which cells are shown: [first, last).
struct Window {
  std::size_t first = 0;
  std::size_t last = 0;
};

Window window_around(const std::vector<Cell>& cells, std::size_t caret) {
  Window window{0, cells.size()};
  const auto end = cells.back().column + cells.back().width;
  if (end <= k_widest) return window;
  // A place after the last character counts as its own column.
  const auto at = caret < cells.size() ? cells[caret].column : end;
  const auto start = at > k_before ? std::min(at - k_before, end + 2 - k_widest) : 0;
  // One column at either end is for the ellipsis.
  while (window.first < cells.size() && cells[window.first].column < start + (start > 0 ? 1 : 0))
    ++window.first;
  window.last = window.first;
  while (window.last < cells.size() &&
         cells[window.last].column + cells[window.last].width <= start + k_widest - 1)
    ++window.last;
  return window;
}

} // namespace

Excerpt make_excerpt(std::string_view source, const SourceLocation& location) {
  return location.line == 0 ? Excerpt{} : make_line_excerpt(line_of(source, location.line), location);
}

Excerpt make_line_excerpt(std::string_view line, const SourceLocation& location) {
  if (location.line == 0 || line.empty()) return {};
  std::size_t first_byte = location.column > 0 ? location.column - 1 : 0;
  // Of a line of megabytes only the bytes around the place are looked at.
  if (line.size() > 2 * k_bytes_around) {
    const auto caret = std::min(first_byte, line.size());
    auto begin = caret > k_bytes_around ? caret - k_bytes_around : 0;
    while (begin > 0 && (static_cast<unsigned char>(line[begin]) & 0xc0U) == 0x80) --begin;
    line = line.substr(begin, 2 * k_bytes_around);
    first_byte -= begin;
  }
  const auto cells = make_cells(line);
  const std::size_t end_byte = first_byte + std::max(1U, location.length);
  const auto caret = static_cast<std::size_t>(
      std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.end_byte > first_byte; }) -
      cells.begin());
  const auto window = window_around(cells, caret);

  Excerpt excerpt;
  if (window.first > 0) {
    excerpt.line = "…";
    excerpt.marks = " ";
  }
  std::string carets;
  for (auto i = window.first; i < window.last; ++i) {
    const auto& cell = cells[i];
    excerpt.line += cell.shown;
    if (cell.end_byte <= first_byte)
      excerpt.marks.append(cell.width, ' ');
    else if (cell.first_byte < end_byte)
      carets.append(cell.width, '^');
  }
  if (window.last < cells.size()) excerpt.line += "…";
  excerpt.marks += carets.empty() ? "^" : carets;
  return excerpt;
}

} // namespace hpcml::diag
