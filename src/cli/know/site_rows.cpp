// SPDX-License-Identifier: MIT
#include "cli/know/site_rows.hpp"

#include "core/util/text.hpp"

namespace hpcml::cli {

// Between tabs: the profiles' ids (with commas), how many marks there are, the marks ("VARIABLE=pattern",
// "=pattern" for a host name), the row's cells, of which the first is the site's id.

std::string render_site_rows(const std::vector<SiteRow>& rows) {
  std::string text;
  for (const auto& row : rows) {
    const auto& detect = row.marks.detect;
    text += util::join(row.marks.layers, ",") + "\t" +
            std::to_string(detect.env.size() + detect.hostnames.size());
    for (const auto& [name, pattern] : detect.env) text += "\t" + name + "=" + pattern;
    for (const auto& pattern : detect.hostnames) text += "\t=" + pattern;
    text += "\t" + util::join(row.cells, "\t") + "\n";
  }
  return text;
}

std::vector<SiteRow> parse_site_rows(std::string_view text) {
  std::vector<SiteRow> rows;
  for (const auto& line : util::split(text, '\n')) {
    const auto cells = util::split(line, '\t');
    const auto marks = cells.size() > 2 ? util::parse_unsigned(cells[1]) : std::nullopt;
    if (!marks || cells.size() < *marks + 3) continue; // the end of the text
    SiteRow row;
    row.marks.layers = util::split(cells[0], ',');
    for (std::size_t i = 2; i < *marks + 2; ++i) {
      const auto equals = cells[i].find('=');
      if (equals == 0)
        row.marks.detect.hostnames.push_back(cells[i].substr(1));
      else
        row.marks.detect.env.emplace(cells[i].substr(0, equals), cells[i].substr(equals + 1));
    }
    row.cells.assign(cells.begin() + static_cast<std::ptrdiff_t>(*marks + 2), cells.end());
    row.marks.id = row.cells.front();
    rows.push_back(std::move(row));
  }
  return rows;
}

} // namespace hpcml::cli
