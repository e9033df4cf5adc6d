// SPDX-License-Identifier: MIT
#include "core/util/text_table.hpp"

#include <algorithm>

#include "core/util/wrap_text.hpp"

namespace hpcml::util {

std::string render_columns(const std::vector<std::vector<std::string>>& rows,
                           const std::set<std::size_t>& right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - text_width(row[i]), ' ');
      line += (i == 0 ? "" : "  ") + (right.count(i) != 0 ? blanks + row[i] : row[i] + blanks);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

} // namespace hpcml::util
