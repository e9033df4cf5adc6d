// SPDX-License-Identifier: MIT
// The blocks of a page that its tests run: commands, and what they print.
#pragma once

#include <string>
#include <vector>

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::test {

/// A block between ``` and ```, with the comment that stands directly above it: "slurm" of <!-- slurm -->.
struct PageBlock {
  std::string kind; ///< "bash", "text", "console"
  std::string mark; ///< empty: none
  std::string text;
};

inline std::vector<PageBlock> page_blocks(const std::string& page) {
  std::vector<PageBlock> blocks;
  std::string mark;
  bool inside = false;
  for (const auto& line :
       util::split(util::read_file(std::string(HPCML_SOURCE_DIR) + "/docs/" + page).value(), '\n')) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), mark, {}});
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
    const bool is_mark = !inside && line.starts_with("<!-- ") && line.ends_with(" -->");
    mark = is_mark ? line.substr(5, line.size() - 9) : "";
  }
  return blocks;
}

/// The first line that does not come in the output, each behind the one before; "…" in a line stands for
/// anything. Empty: all come.
inline std::string missing_line(const std::string& lines, const std::string& output) {
  std::size_t at = 0;
  for (const auto& line : util::split(lines, '\n')) {
    for (const auto& part : util::split(util::replace_all(line, "…", "\n"), '\n')) {
      const auto found = output.find(part, at);
      if (found == std::string::npos) return line;
      at = found + part.size();
    }
  }
  return {};
}

} // namespace hpcml::test
